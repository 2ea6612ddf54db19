import type { RequestListener } from 'node:http';
import type { PlantRepository } from '@plantstore/core';
import { describe, expectTypeOf, it } from 'vitest';
import {
  createRequestListener,
  type RequestListenerOptions,
  type StartedServer,
  type TokenDecision,
} from './index.ts';

declare const repository: PlantRepository;

describe('the types of the server', () => {
  it('give a listener for any Node server', () => {
    expectTypeOf(createRequestListener).returns.toEqualTypeOf<RequestListener>();
  });

  it('let nobody forget who may create plants', () => {
    // @ts-expect-error authenticate is missing
    createRequestListener({ repository });
    expectTypeOf<RequestListenerOptions['authenticate']>().returns.toEqualTypeOf<
      TokenDecision | Promise<TokenDecision>
    >();
  });

  it('tell a server that runs from one that cannot listen', () => {
    expectTypeOf<StartedServer['kind']>().toEqualTypeOf<'running' | 'cannot-listen'>();
  });
});
