import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog, type LogFormat } from './log.ts';

const written = (format: LogFormat, fields: Record<string, unknown>, message = 'request') => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const log = createLog(format, stream);
  log.info(fields, message);
  log.flush();
  return String(stream.read());
};

describe('the log', () => {
  it('is one JSON object a line', () => {
    const line = written('json', { path: '/plants', status: 200 });
    expect(JSON.parse(line)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown,
      level: 'info',
      message: 'request',
      path: '/plants',
      status: 200,
    });
  });

  it('is a line for people', () => {
    expect(written('pretty', { path: '/plants', name: 'two words' })).toMatch(
      /^\d\d:\d\d:\d\d info {2}request path=\/plants name="two words"\n$/,
    );
  });

  it('keeps an exception with its stack, and a bigint', () => {
    const { cause, id } = JSON.parse(
      written('json', { cause: new Error('a bug'), id: 7n }),
    ) as Record<string, string>;
    expect(cause).toMatch(/^Error: a bug\n {4}at /);
    expect(id).toBe('7');
  });

  it('keeps what cannot be written as JSON', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(written('json', { cause: circle })).toContain('[Circular *1]');
    expect(written('pretty', { path: '/plants', cause: circle })).toMatch(
      /path=\/plants cause=.*Circular/,
    );
  });

  it('does not fill the memory where nobody reads it, and says later what is missing', () => {
    const stream = new PassThrough({ encoding: 'utf8' });
    const log = createLog('json', stream);
    const path = 'x'.repeat(1_000_000);
    for (let count = 0; count < 100; count += 1) log.info({ path }, 'request');
    log.flush();
    expect(stream.writableLength).toBeLessThan(10_000_000);
    while (stream.read() !== null);
    log.info({}, 'stopped');
    log.flush();
    const told = String(stream.read())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string; dropped?: number });
    expect(told).toMatchObject([
      { level: 'warn', message: expect.stringContaining('missing') as unknown },
      { message: 'stopped' },
    ]);
    expect(told[0]?.dropped).toBeGreaterThan(80);
  });

  it('writes the lines of a turn of the event loop at once, after it', async () => {
    const stream = new PassThrough({ encoding: 'utf8' });
    const log = createLog('json', stream);
    log.info({ id: 1 }, 'first');
    log.warn({ id: 2 }, 'second');
    await new Promise(setImmediate);
    const lines = String(stream.read()).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2]);
  });

  it.each<LogFormat>(['json', 'pretty'])('is not broken by any text (%s)', (format) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = written(format, { path: text });
        expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        expect(line.at(-1)).toBe('\n');
        if (format === 'json') expect((JSON.parse(line) as { path: string }).path).toBe(text);
      }),
    );
  });
});
