import type { RequestListener } from 'node:http';
import type { PlantRepository } from '@plantstore/core';
import { describe, expectTypeOf, it } from 'vitest';
import {
  type CannotListen,
  createRequestListener,
  type optionRules,
  type RequestListenerOptions,
  type Result,
  type RunningServer,
  type StartedServer,
  type StartServerOptions,
  type TokenDecision,
} from './index.ts';

declare const repository: PlantRepository;

describe('the types of the server', () => {
  it('createRequestListener returns a RequestListener', () => {
    expectTypeOf(createRequestListener).returns.toEqualTypeOf<RequestListener>();
  });

  it('the options of a listener require authenticate', () => {
    // @ts-expect-error authenticate is missing
    createRequestListener({ repository });
    expectTypeOf<RequestListenerOptions['authenticate']>().returns.toEqualTypeOf<
      TokenDecision | Promise<TokenDecision>
    >();
  });

  it('the type of a started server is a result', () => {
    expectTypeOf<StartedServer>().toEqualTypeOf<Result<RunningServer, CannotListen>>();
  });

  it('optionRules has a rule for each option of startServer but tls', () => {
    expectTypeOf<keyof typeof optionRules>().toEqualTypeOf<
      Exclude<keyof StartServerOptions, 'tls'>
    >();
  });
});
