import { createMemoryRepository } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import { createFetchHandler } from './fetch/create-fetch-handler.ts';
import { createHttpServer, type Limits, optionRules } from './index.ts';

const dayMs = 86_400_000;
/** The least and the greatest number of each option. */
const bounds = {
  maxBodyBytes: [1, 268_435_456],
  maxInFlight: [1, 1_000_000],
  maxConnections: [1, 1_000_000],
  headersTimeoutMs: [1, dayMs],
  requestTimeoutMs: [1, dayMs],
  keepAliveTimeoutMs: [1, dayMs],
  handlerTimeoutMs: [1, dayMs],
} satisfies Record<keyof Limits, readonly [number, number]>;

const service = { repository: createMemoryRepository(), authenticate: () => true };
// A fetch handler has no connections.
const ofFetch = new Set(['maxBodyBytes', 'maxInFlight', 'requestTimeoutMs', 'handlerTimeoutMs']);

describe('the numbers of the options', () => {
  it.each(Object.entries(bounds))('%s is accepted from %j, and refused outside', (name, range) => {
    const [min, max] = range;
    const refusal = `${name} must be a whole number from ${min} to ${max}`;
    const constructors = [createHttpServer, ...(ofFetch.has(name) ? [createFetchHandler] : [])];
    for (const construct of constructors) {
      for (const value of [min, max])
        expect(() => construct({ ...service, [name]: value })).not.toThrow();
      for (const value of [min - 1, max + 1, min + 0.5, NaN, Infinity, String(min), null])
        expect(() => construct({ ...service, [name]: value })).toThrow(refusal);
    }
  });

  it.each([
    ['port', optionRules.port, [0, 65_535], [-1, 65_536, 0.5, '80']],
    ['fd', optionRules.fd, [0, 1_000], [-1, 0.5, NaN, '3']],
  ] as const)('%s is accepted and refused by its rule', (_, rule, accepted, refused) => {
    expect(accepted.map(rule.faultOf)).toEqual(accepted.map(() => undefined));
    expect(refused.map(rule.faultOf)).not.toContain(undefined);
  });
});
