import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from './decode-body.ts';
import { exactInteger } from './exact-integer.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const decode = (text: string) => decodeBody(bytesOf(text)).unwrapOr('undecodable');
const fault = (bytes: Uint8Array) =>
  decodeBody(bytes).match(
    () => 'none',
    (error) => error.kind,
  );
const nested = (depth: number) => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

describe('decodeBody', () => {
  it.each(['1.0000000000000000001', '9007199254740992.5', '1e-7', '10000000000000000001e-1'])(
    'decodeBody reads %s as a number that is no integer',
    (source) => {
      expect(decode(`{"id":${source}}`)).toEqual({ id: Number.NaN });
    },
  );

  it.each(['9223372036854775808', '-9223372036854775809', '1E400', '-1e999999999', '1e19'])(
    'decodeBody reads %s as an integer beyond int64 without expanding it',
    (source) => {
      const { id } = decode(`{"id":${source}}`) as { id: bigint };
      expect(BigInt.asIntN(64, id)).not.toBe(id);
      expect(id < 0n).toBe(source.startsWith('-'));
      expect(id.toString().length).toBeLessThan(25);
    },
  );

  it.each([
    'null',
    '{"id":"x","parent":{"id":9007199254740993}}',
    '{"parent":{"id":9007199254740993}}',
    '{"name":"9007199254740993","id":["x"]}',
  ])('decodeBody reads %s, which has no number as its id, as JSON.parse does', (text) => {
    expect(decode(text)).toEqual(JSON.parse(text));
  });

  it('decodeBody leaves other numbers as JSON.parse reads them, also those of other members named id', () => {
    const others = '"mass":12345678901234567890,"parent":{"id":"x"}}';
    expect(decode(`{"id":9007199254740993,${others}`)).toEqual({
      ...(JSON.parse(`{${others}`) as object),
      id: 9007199254740993n,
    });
  });

  it.each([
    ['nothing', '', 'body-missing'],
    ['two BOMs', '\ufeff\ufeff{}', 'json-malformed'],
    ['white space', ' ', 'json-malformed'],
    ['Latin-1', Uint8Array.of(0x22, 0xe9, 0x22), 'encoding-invalid'],
  ] as const)('decodeBody reports the fault of a body of %s', (_, body, kind) => {
    expect(fault(typeof body === 'string' ? bytesOf(body) : body)).toBe(kind);
    expect(decode('\ufeff{"id":7}')).toEqual({ id: 7 });
  });

  it('decodeBody reads JSON nested 500 levels deep and rejects 501 levels', () => {
    expect(fault(bytesOf(nested(500)))).toBe('none');
    expect(fault(bytesOf(nested(501)))).toBe('json-malformed');
    expect(fault(bytesOf(`{"id":1e1,"x":${nested(500_000)}}`))).toBe('json-malformed');
    expect(fault(bytesOf('['.repeat(1_000_000)))).toBe('json-malformed');
  });

  it('decodeBody counts only arrays and objects that are not yet closed', () => {
    expect(fault(bytesOf(`{"x":[${'[],{},'.repeat(1_000)}0]}`))).toBe('none');
  });

  it('decodeBody does not count brackets in strings', () => {
    for (const text of ['["{\\"\\\\'.repeat(2000), '[{'.repeat(2000)]) {
      expect(decode(JSON.stringify({ name: text }))).toEqual({ name: text });
    }
  });

  it('decodeBody reads every notation of an integer as that integer', () => {
    const written = fc.record({
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((id) => id !== 0n),
      zeros: fc.nat({ max: 30 }),
      fraction: fc.nat({ max: 30 }),
      shift: fc.nat({ max: 40 }),
    });
    fc.assert(
      fc.property(written, ({ id, zeros, fraction, shift }) => {
        const shifted = `${id}${'0'.repeat(shift)}${fraction > 0 ? `.${'0'.repeat(fraction)}` : ''}e-${shift}`;
        const grown = `${id}${'0'.repeat(zeros)}E-${zeros}`;
        for (const source of [`${id}`, shifted, grown]) {
          const value = (decode(`{"id":${source}}`) as { id: bigint | number }).id;
          expect(BigInt(value)).toBe(id);
        }
      }),
    );
  });

  it('decodeBody reads the id of an object exactly, between members that resemble it', () => {
    const spaces = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
    const names = fc.constantFrom(
      'id',
      String.raw`\u0069d`,
      String.raw`i\u0064`,
      String.raw`x\"id`,
    );
    const sources = fc.oneof(
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
      fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
      fc.constantFrom('-0', '7e3', '1E+2', '10000000000000000001e-1', '1e-7', 'null', '"id"'),
      fc.constantFrom(
        String.raw`"\\"`,
        String.raw`",\"id\":1e3"`,
        '"}{]["',
        '["id",1e3]',
        '[{"id":1e3}]',
      ),
    );
    const members = fc.array(fc.tuple(spaces, names, spaces, sources, spaces), { maxLength: 6 });
    fc.assert(
      fc.property(members, (list) => {
        const texts = list.map(([a, name, b, source, c]) => `${a}"${name}"${b}:${c}${source}${a}`);
        const text = `{${texts.join()}}`;
        const sourceOf = (key: string, value: unknown, context: { readonly source: string }) =>
          key === 'id' && typeof value === 'number' ? context : value;
        const expected = JSON.parse(text) as { id?: unknown };
        const { id } = JSON.parse(text, sourceOf as never) as { id?: { source: string } };
        if (typeof expected.id === 'number')
          expected.id = exactInteger(id?.source ?? '') ?? Number.NaN;
        const decoded = decode(text) as { id?: unknown };
        if (typeof decoded.id === 'number')
          decoded.id = Number.isInteger(decoded.id) ? BigInt(decoded.id) : Number.NaN;
        expect(decoded).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['numbers', '1,'],
    ['objects', '{},'],
    ['members named id', '{"id":1e3},'],
    ['empty strings', '"",'],
  ])('decodeBody takes as long for a body of many %s with any id', (_, unit) => {
    const bodyOf = (id: string) => bytesOf(`{"id":${id},"x":[${unit.repeat(2 ** 15)}0]}`);
    const timeOf = (body: Uint8Array) => {
      const before = process.cpuUsage();
      for (let time = 0; time < 10; time += 1) decodeBody(body);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const [usual, exact] = ['7', '9007199254740993'].map((id) => timeOf(bodyOf(id)));
    // A reviver takes 10 to 25 times as long.
    expect(exact).toBeLessThan(3 * (usual ?? 0));
  });

  it('decodeBody never throws for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decodeBody(bytes)));
  });
});
