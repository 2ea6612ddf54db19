import { createMemoryRepository } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import { createFetchHandler } from '../fetch/create-fetch-handler.ts';
import {
  createHttpServer,
  createRequestListener,
  type OptionRule,
  optionRules,
  startServer,
  type StartServerOptions,
} from '../index.ts';

const service = { repository: createMemoryRepository(), authenticate: () => true };
const dayMs = 86_400_000;
const pathRule = 'must be a path that begins with a slash';
const originRule = 'must be origins such as https://garden.example, in lower case';
const logger = { info() {}, warn() {}, error() {} };

/** The values that an option accepts, those that it refuses, and what a refused one has to be. */
type Row = readonly [accepted: readonly unknown[], refused: readonly unknown[], rule: string];

const wholeNumber = (min: number, max: number): Row => [
  [min, max],
  [min - 1, max + 1, min + 0.5, NaN, Infinity, String(min), null],
  `must be a whole number from ${min} to ${max}`,
];

const rows: Readonly<Record<keyof typeof optionRules, Row>> = {
  repository: [[service.repository], [{}, null, undefined], 'must have create'],
  authenticate: [[service.authenticate], ['token', undefined], 'must be a function'],
  basePath: [
    ['', '/', '/garden/', '/.well-known', '/..a', '/a..', '/...', '/it%20is', '/é'],
    [
      'garden',
      '//a',
      '/a//b',
      '/.',
      '/..',
      '/a/./b',
      '/a?b',
      '/a#b',
      '/%',
      '/a\\b',
      '/a\nb',
      '/{a}',
    ]
      .concat('/a\x7f', '/garden"', '/a}')
      .concat(7 as never),
    pathRule,
  ],
  corsOrigins: [
    [
      [],
      ['https://garden.example', 'http://localhost:5173', 'capacitor://localhost', 'app://-'],
      ['tauri://localhost', 'chrome-extension://abcdefgh', 'moz-extension://2c3e-5d4', 'ionic://a'],
    ],
    ['', 'garden.example', 'https://garden.example/', 'https://Garden.example', 'https://']
      .concat('ftp://garden.example', 'ws://a', 'capacitor://localhost/', 'Tauri://localhost')
      .concat('tauri://Localhost', 'tauri://')
      .map((wrong) => ['https://garden.example', wrong]),
    originRule,
  ],
  corsAllowedHeaders: [
    [[], ['traceparent', 'X-Key']],
    ['traceparent', ...['*', '', 'two words', 'a:', 'a,b', 'a\r\nb', 7].map((name) => ['a', name])],
    'must be header names such as traceparent',
  ],
  logger: [[logger], [{}, { ...logger, warn: undefined }, null], 'must have info, warn and error'],
  trustedProxies: [
    [['10.0.0.0/8', '0.0.0.0/0', '::1', '10.0.0.1/32', '2001:DB8::/128', 'unix']],
    ['2001:db8::/129', '10.0.0.0/1000', '10.0.0.0/8x', 'x10.0.0.0/8', '10.0.0.0/33', '10.0.0.0/']
      .concat('10.0.0/8', 'proxy.example', 'fe80::1%eth0', '', 'unix:/run/plants.sock')
      .map((wrong) => ['::1', wrong]),
    'must be addresses, ranges such as 10.0.0.0/8, or unix',
  ],
  host: [['::', 'localhost'], ['', 5, '[::1]'], 'must be a host name or an address'],
  port: wholeNumber(0, 65_535),
  reusePort: [[true, false], ['on', 1, null], 'must be true or false'],
  fd: [[0, 1_000], [-1, 0.5, NaN, '3'], 'must be a file descriptor, a whole number from 0'],
  maxBodyBytes: wholeNumber(1, 268_435_456),
  maxInFlight: wholeNumber(1, 1_000_000),
  maxConnections: wholeNumber(1, 1_000_000),
  headersTimeoutMs: wholeNumber(1, dayMs),
  requestTimeoutMs: wholeNumber(1, dayMs),
  keepAliveTimeoutMs: wholeNumber(1, dayMs),
  handlerTimeoutMs: wholeNumber(1, dayMs),
};

describe('the rule of an option', () => {
  it.each(Object.entries(rows))(
    'the rule of %s accepts its values, and refuses others',
    (...row) => {
      const [name, [accepted, refused, rule]] = row;
      const { faultOf }: OptionRule = optionRules[name as keyof typeof optionRules];
      expect(accepted.map(faultOf)).toEqual(accepted.map(() => undefined));
      for (const value of refused)
        expect([value, faultOf(value)]).toEqual([value, expect.any(String)]);
      expect(faultOf(refused[0])).toMatch(rule);
    },
  );

  it.each([
    ['null', 'must not have null: any page can have this origin'],
    ['https://*.example.com', 'must have each origin in full: a * matches none'],
    ['*', 'must have each origin in full: a * matches none'],
  ])('the rule of corsOrigins names the fault of %s: %s', (origin, fault) => {
    expect(optionRules.corsOrigins.faultOf([origin])).toBe(fault);
    expect(optionRules.corsOrigins.faultOf(origin)).toMatch('must be a list of origins');
  });
});

describe('a wrong option', () => {
  const constructors: readonly ((options: StartServerOptions) => unknown)[] = [
    createHttpServer,
    createRequestListener,
    createFetchHandler,
  ];

  it('a wrong or missing option throws a TypeError that names it', async () => {
    for (const construct of constructors) {
      const wrong = { ...service, maxBodyBytes: 0 };
      expect(() => construct(wrong)).toThrow(new TypeError(`maxBodyBytes ${rows.maxBodyBytes[2]}`));
      const missing = { ...service, authenticate: undefined as never };
      expect(() => construct(missing)).toThrow(new TypeError('authenticate must be a function'));
    }
    await expect(startServer({ ...service, port: -1 })).rejects.toThrow(TypeError);
  });
});
