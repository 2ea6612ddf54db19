import fc from 'fast-check';
import { anyBytes, often, rarely, token } from './arbitraries.ts';
import { type Change, change } from './changes.ts';
import { framed, plant } from './framed-body.ts';

/** The behaviour of a client: the bytes that it sends in pieces, and how it ends the connection. */
export type Client = {
  readonly bytes: Buffer;
  /** The offsets at which the bytes are split into pieces. */
  readonly cuts: readonly number[];
  /** Whether the requests are not mutated, so that their responses are known. */
  readonly isPure: boolean;
  readonly ending: 'end' | 'reset' | 'destroy' | 'wait';
};

const method = fc.oneof(
  often(20, 'POST'),
  rarely(
    'GET',
    'HEAD',
    'PUT',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'QUERY',
    'SOURCE',
    'BREW',
    'post',
    'PRI',
  ),
);
const target = fc.oneof(
  often(20, '/plants'),
  rarely('/%70lants', '/plants?x', 'http://a/plants', 'https://a:1/plants?', '/plants?#'),
  rarely('/', '*', '//plants', '/plants/', '/plants%2F', '/plants%00', '/plants%', '/x/../plants'),
  rarely('http://u@h/plants', 'http://[1::2::3]/plants', 'http://a:99999/plants'),
  rarely('a:1', 'http:///plants', 'http://a', 'ftp://a/plants', 'plants', '/plants;x', '/plants#x'),
);
const version = fc.oneof(
  often(20, 'HTTP/1.1'),
  rarely('HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'RTSP/1.0'),
);
const space = fc.oneof(often(40, ' '), rarely('  ', '\t', ''));
const lineEnd = fc.oneof(often(200, '\r\n'), rarely('\n', '\r', '\r\r\n', '\n\r', '\r\n '));
const colon = fc.oneof(often(60, ': '), rarely(':', ':\t', ' : ', ':  '));

const goodFields = [
  ['Host', 'a'],
  ['Authorization', `Bearer ${token}`],
  ['Content-Type', 'application/json'],
] as const;

const randomFields = fc.tuple(
  fc.oneof(
    rarely(
      'Host',
      'Authorization',
      'Content-Type',
      'Content-Length',
      'Transfer-Encoding',
      'Expect',
    ),
    rarely('Content-Encoding', 'Connection', 'Upgrade', 'Trailer', 'TE', 'Keep-Alive', 'Cookie'),
    rarely(
      '__proto__',
      'constructor',
      'Transfer_Encoding',
      'HTTP2-Settings',
      'X',
      'host',
      '',
      'X Y',
    ),
    { weight: 1, arbitrary: anyBytes },
  ),
  fc.oneof(
    rarely('a', `Bearer ${token}`, `bearer  ${token}`, 'Bearer x', 'Basic eDp5', 'Bearer', '', ','),
    rarely('application/json', 'application/json; charset=x', 'text/plain', 'gzip', 'identity'),
    rarely('chunked', 'Chunked', 'gzip, chunked', 'chunked, chunked', '100-continue', 'x', 'h2c'),
    rarely('identity,', ', identity\t,identity', ',100-continue', '100-continue,x', ' , '),
    rarely('close', 'keep-alive', 'upgrade', 'close, x', 'websocket', 'trailers', 'timeout=1'),
    rarely(
      '0',
      '1',
      '5',
      '30',
      '+5',
      '-1',
      '5, 5',
      '0x5',
      '9007199254740993',
      '18446744073709551616',
    ),
    { weight: 1, arbitrary: anyBytes },
    { weight: 1, arbitrary: fc.constantFrom(1_000, 20_000).map((size) => 'x'.repeat(size)) },
  ),
);

const request = fc
  .record({
    line: fc.tuple(method, space, target, space, version),
    drop: fc.oneof(often(9, -1), rarely(0, 1, 2)),
    randomFields: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(randomFields, { maxLength: 6 }) },
    ),
    expect: fc.oneof(often(9, false), often(1, true)),
    framed,
    colon,
    ends: fc.tuple(lineEnd, lineEnd, lineEnd),
  })
  .map(({ line, drop, framed: { fields, bytes }, ends, ...more }) => {
    const all = [
      ...goodFields.filter((_, index) => index !== drop),
      ...(more.expect ? [['Expect', '100-continue'] as const] : []),
      ...more.randomFields,
      ...fields,
    ];
    const lines = all.map(([name, value], index) =>
      index === 1 ? name + more.colon + value + ends[1] : `${name}: ${value}\r\n`,
    );
    return `${line.join('')}${ends[0]}${lines.join('')}${ends[2]}${bytes}`;
  });

/** A valid request. */
const goodRequest = plant.map((text) => {
  const fields = [...goodFields, ['Content-Length', String(text.length)] as const];
  return `POST /plants HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
});

const cutsOf = (bytes: Buffer) =>
  fc.oneof(
    often(2, []),
    { weight: 3, arbitrary: fc.array(fc.nat(bytes.length), { maxLength: 8 }) },
    often(1, bytes.length < 1500 ? Array.from(bytes, (_, index) => index) : []),
  );

/** Any client, mostly with valid or slightly mutated requests. */
export const client: fc.Arbitrary<Client> = fc
  .record({
    requests: fc.array(
      fc.oneof({ weight: 2, arbitrary: goodRequest }, { weight: 3, arbitrary: request }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    changes: fc.oneof(
      { weight: 1, arbitrary: fc.constant<Change[]>([]) },
      { weight: 1, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
    ),
    ending: fc.oneof(
      often(500, 'end' as const),
      often(60, 'reset' as const),
      often(60, 'destroy' as const),
      often(1, 'wait' as const),
    ),
  })
  .chain(({ requests, changes, ending }) => {
    const text = changes.reduce((changed, apply) => apply(changed), requests.join(''));
    const bytes = Buffer.from(text, 'latin1');
    return cutsOf(bytes).map((cuts) => ({ bytes, cuts, isPure: changes.length === 0, ending }));
  });
