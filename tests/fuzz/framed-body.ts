import fc from 'fast-check';
import { anyBytes, often, rarely, token } from './arbitraries.ts';

/** A plant, mostly valid. Its name identifies the request of a response. */
export const plant = fc
  .record({
    id: fc.oneof(
      { weight: 20, arbitrary: fc.integer().map(String) },
      { weight: 5, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }).map(String) },
      rarely('7.0', '70e-1', '-0', '1.5', '1e18', '1e19', '1E+2', '1e-1', '1e400', '01', '"7"'),
      rarely('9007199254740993', '1.0000000000000000001', '100000000000000000000e-2'),
    ),
    name: fc.uuid(),
    spaces: fc.oneof(often(9, 0), rarely(900, 990, 5000)),
  })
  .map(({ id, name, spaces }) => `{"id":${id},"name":"${name}"}${' '.repeat(spaces)}`);
const body = fc.oneof(
  { weight: 9, arbitrary: plant },
  rarely('', '{}', '[]', 'null', '{"id":', '{"id":1e400,"name":"x"}', '{"id":1,"name":"\xff"}'),
  { weight: 1, arbitrary: anyBytes },
  { weight: 1, arbitrary: fc.constantFrom(1001, 70_000, 300_000).map((size) => 'x'.repeat(size)) },
);

const sizeLine = fc.oneof(
  often(40, (size: number) => size.toString(16)),
  rarely<(size: number) => string>(
    (size) => `00${size.toString(16).toUpperCase()}`,
    (size) => `${size.toString(16)};a=b;c="d"`,
    (size) => (size + 1).toString(16),
    (size) => `0x${size.toString(16)}`,
    (size) => ` ${size.toString(16)}`,
    () => '',
    () => 'ffffffffffffffff1',
    (size) => `${size.toString(16)};${'x'.repeat(20_000)}`,
  ),
);
const trailers = fc.oneof(
  often(9, ''),
  rarely('X: y\r\n', `Authorization: Bearer ${token}\r\n`, 'Content-Length: 1\r\n', 'X\r\n'),
);

/** A framed body: its header fields and its bytes. */
type Framed = { readonly fields: readonly (readonly [string, string])[]; readonly bytes: string };

/** Any body in any framing, mostly a plant in valid framing. */
export const framed = body.chain((text): fc.Arbitrary<Framed> => {
  const withLength = fc
    .oneof(often(20, 0), rarely(-1, 1, 1_000_000))
    .map((more) => [['Content-Length', String(text.length + more)]] as const);
  const chunked = fc
    .tuple(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), sizeLine), { maxLength: 4 }),
      sizeLine,
      trailers,
    )
    .map(([pieces, lastLine, trailer]): Framed => {
      let bytes = '';
      let at = 0;
      for (const [length, line] of [...pieces, [text.length, lastLine] as const]) {
        const chunk = text.slice(at, at + length);
        at += length;
        if (chunk !== '') bytes += `${line(chunk.length)}\r\n${chunk}\r\n`;
      }
      return { fields: [['Transfer-Encoding', 'chunked']], bytes: `${bytes}0\r\n${trailer}\r\n` };
    });
  return fc.oneof(
    { weight: 6, arbitrary: withLength.map((fields) => ({ fields, bytes: text })) },
    { weight: 3, arbitrary: chunked },
    often(1, { fields: [], bytes: '' }),
  );
});
