import fc from 'fast-check';

/** The only token that the server accepts. */
export const token = 'fuzz';
/** The maxBodyBytes of the server. */
export const maxBodyBytes = 1000;

/** The bytes of a client, the offsets at which they are split into pieces, and how it ends. */
export type Client = {
  readonly bytes: Buffer;
  readonly cuts: readonly number[];
  /** Whether it sends valid requests only, so that the responses are known. */
  readonly isGood: boolean;
  readonly resets: boolean;
};

type Fields = readonly (readonly [name: string, value: string])[];

/** The usual value, and others that are selected rarely, one in `weight` each. */
const mostly = <T>(weight: number, usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
const words = (text: string) => text.split(' ');

/** Any bytes, as a latin1 string. */
const anyBytes = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)) });

const ids = fc.oneof(
  { weight: 20, arbitrary: fc.integer().map(String) },
  { weight: 5, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom(...words('7.0 70e-1 -0 1.5 1e19 1E+2 1e400 01 "7"')) },
);

/** A plant, mostly valid. Its name identifies the request of a response. */
const plant = fc
  .tuple(ids, fc.uuid(), mostly(9, 0, 900, 990, 5000))
  .map(([id, name, spaces]) => `{"id":${id},"name":"${name}"}${' '.repeat(spaces)}`);

const bodies = fc.oneof(
  { weight: 9, arbitrary: plant },
  mostly(1, '', '{}', '[]', '{"id":', '{"id":1,"name":"\xff"}', 'x'.repeat(300_000)),
  anyBytes,
);

const sizeLines = mostly<(size: number) => string>(
  40,
  (size) => size.toString(16),
  (size) => `00${size.toString(16).toUpperCase()};a=b;c="d"`,
  (size) => (size + 1).toString(16),
  (size) => `0x${size.toString(16)}`,
  (size) => ` ${size.toString(16)}`,
  () => '',
  () => 'ffffffffffffffff1',
  (size) => `${size.toString(16)};${'x'.repeat(20_000)}`,
);
const trailers = mostly(9, '', 'X: y\r\n', `Authorization: Bearer ${token}\r\n`, 'X\r\n');

type Framed = { readonly fields: Fields; readonly bytes: string };

/** Any body in any framing, mostly a plant in valid framing. */
const framed = bodies.chain((text): fc.Arbitrary<Framed> => {
  const withLength = mostly(20, 0, -1, 1, 1_000_000).map((more) => ({
    fields: [['Content-Length', String(text.length + more)]] as const,
    bytes: text,
  }));
  const chunked = fc
    .tuple(fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 4 }), sizeLines, trailers)
    .map(([lengths, line, trailer]): Framed => {
      let bytes = '';
      let at = 0;
      for (const length of [...lengths, text.length]) {
        const chunk = text.slice(at, at + length);
        at += length;
        if (chunk !== '') bytes += `${line(chunk.length)}\r\n${chunk}\r\n`;
      }
      return { fields: [['Transfer-Encoding', 'chunked']], bytes: `${bytes}0\r\n${trailer}\r\n` };
    });
  const none = fc.constant({ fields: [], bytes: '' });
  return fc.oneof({ weight: 6, arbitrary: withLength }, { weight: 3, arbitrary: chunked }, none);
});

const requestLines = fc
  .tuple(
    mostly(20, 'POST', ...words('GET OPTIONS TRACE CONNECT QUERY SOURCE BREW post PRI')),
    mostly(40, ' ', '  ', '\t', ''),
    mostly(
      20,
      '/plants',
      ...words('/%70lants /plants?x http://a/plants https://a:1/plants? / * //plants /plants/'),
      ...words('/plants%2F /plants%00 /plants% /x/../plants http://u@h/plants /plants#x'),
      ...words('http://[1::2::3]/plants http://a:99999/plants a:1 http:///plants ftp://a/plants'),
    ),
    mostly(40, ' ', '  ', '\t', ''),
    mostly(20, 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'RTSP/1.0'),
  )
  .map((parts) => parts.join(''));

const goodFields: Fields = [
  ['Host', 'a'],
  ['Authorization', `Bearer ${token}`],
  ['Content-Type', 'application/json'],
];
const someFields = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      ...words('Host Authorization Content-Type Content-Length Transfer-Encoding Expect host'),
      ...words('Content-Encoding Connection Upgrade Trailer __proto__ Transfer_Encoding X'),
    ),
    anyBytes,
  ),
  fc.oneof(
    fc.constantFrom(
      ...`a|Bearer ${token}|bearer  ${token}|Bearer x|Basic eDp5||,|gzip|identity,|, identity\t,x`
        .concat('|application/json; charset=x|text/plain|chunked|gzip, chunked|chunked, chunked')
        .concat(
          '|100-continue|,100-continue|close|keep-alive|upgrade|close, x|websocket|0|5|+5|5, 5',
        )
        .split('|'),
      '18446744073709551616',
      'x'.repeat(20_000),
    ),
    anyBytes,
  ),
);

const request = fc
  .record({
    line: requestLines,
    values: fc.tuple(
      mostly(20, 'a', ''),
      mostly(9, `Bearer ${token}`, 'Bearer x', 'Basic eDp5', ''),
      mostly(20, 'application/json', 'text/plain', ''),
    ),
    more: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(someFields, { maxLength: 6 }) },
    ),
    expects: mostly(9, [], [['Expect', '100-continue'] as const]),
    framed,
    colon: mostly(60, ': ', ':', ' : ', ':  '),
    ends: fc.array(mostly(200, '\r\n', '\n', '\r', '\r\r\n', '\r\n '), {
      minLength: 3,
      maxLength: 3,
    }),
  })
  .map(({ line, values, more, expects, framed: { fields, bytes }, colon, ends }) => {
    const kept = goodFields
      .map(([name], index) => [name, values[index] ?? ''] as const)
      .filter(([, value]) => value !== '');
    const lines = [...kept, ...expects, ...more, ...fields].map(([name, value], index) =>
      index === 1 ? `${name}${colon}${value}${ends[1]}` : `${name}: ${value}\r\n`,
    );
    return `${line}${ends[0]}${lines.join('')}${ends[2]}${bytes}`;
  });

/** Returns a valid request. */
export function requestOf(body: string): string {
  const fields: Fields = [...goodFields, ['Content-Length', String(body.length)]];
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /plants HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** A change of bytes: some are removed, repeated or moved, and others inserted. */
const change = fc
  .record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    to: fc.double({ min: 0, max: 1, noNaN: true }),
    size: fc.integer({ min: 0, max: 40 }),
    repeats: fc.nat(2),
    bytes: fc.oneof(anyBytes, fc.constantFrom('', '\r\n', '\n', '\0', ' ', ':', '\xff', '%')),
  })
  .map(({ at, to, size, repeats, bytes }) => (text: string) => {
    const start = Math.floor(at * text.length);
    const piece = text.slice(start, start + size);
    const rest = text.slice(0, start) + bytes + text.slice(start + size);
    const target = Math.floor(to * rest.length);
    return rest.slice(0, target) + piece.repeat(repeats) + rest.slice(target);
  });

/** Any client, mostly with valid or slightly changed requests. */
export const client: fc.Arbitrary<Client> = fc
  .record({
    good: fc.array(plant.map(requestOf), { maxLength: 3 }),
    others: fc.array(request, { maxLength: 2 }),
    changes: fc.array(change, { maxLength: 2 }),
    resets: mostly(5, false, true),
  })
  .chain(({ good, others, changes, resets }) => {
    const sent = [...good, ...others].join('');
    const text = changes.reduce((changed, apply) => apply(changed), sent);
    const bytes = Buffer.from(text, 'latin1');
    const each = Array.from({ length: Math.min(bytes.length, 1500) }, (_, index) => index);
    const some = fc.array(fc.nat(bytes.length), { maxLength: 8 });
    const isGood = others.length === 0 && changes.length === 0;
    return fc
      .oneof({ weight: 5, arbitrary: some }, fc.constant(each))
      .map((cuts) => ({ bytes, cuts, isGood, resets }));
  });
