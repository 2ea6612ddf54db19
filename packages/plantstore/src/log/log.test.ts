import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Writable } from 'node:stream';
import { promisify } from 'node:util';
import { requiresLinux } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLog, type LogFormat } from './log.ts';
import { newFolder } from '../../test/run-in-folder.ts';

const written = (format: LogFormat, fields: Record<string, unknown>, message = 'request') => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const log = createLog(format, stream);
  log.info(fields, message);
  log.flush();
  return String(stream.read());
};

describe('the log', () => {
  it('the log writes one JSON object per line', () => {
    const line = written('json', { path: '/plants', status: 200 });
    expect(JSON.parse(line)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown,
      level: 'info',
      message: 'request',
      path: '/plants',
      status: 200,
    });
  });

  it('the log writes one line per event for people', () => {
    expect(written('pretty', { path: '/plants', name: 'two words' }, 'started')).toMatch(
      /^\d\d:\d\d:\d\dZ started path=\/plants name="two words"\n$/,
    );
  });

  const request = {
    requestId: 'a-b-c',
    method: 'POST',
    path: '/plants',
    client: '203.0.113.1',
    status: 200,
    bytes: 19,
    durationMs: 24.4,
    tokenName: 'greenhouse',
  };

  it.each([
    [request, 'request', 'POST /plants 200 24 ms 203.0.113.1 greenhouse a-b-c'],
    [
      { ...request, durationMs: 0.26, error: 1401, status: 400 },
      'request',
      'POST /plants 400 1401 0.3 ms 203.0.113.1 greenhouse a-b-c',
    ],
    [{ requestId: 'a', durationMs: 1, status: 400 }, 'request', '- - 400 1.0 ms a'],
    [
      { ...request, status: undefined },
      'request aborted',
      'POST /plants 24 ms 203.0.113.1 greenhouse a-b-c request aborted',
    ],
  ])(
    'the log shows a request for people with its response and its client: %j',
    (fields, message, line) => {
      expect(written('pretty', fields, message).slice(10)).toBe(`${line}\n`);
    },
  );

  it('the log shortens what a client chooses, and indents the lines of a whole cause', () => {
    const cause = `Error: ${'a bug '.repeat(40)}\n\n    at there\u0000`;
    const text = written('pretty', {
      ...request,
      path: `/${'x'.repeat(1_000)}`,
      requestId: 'r'.repeat(128),
      cause,
    });
    expect(text.slice(10)).toBe(
      `POST /${'x'.repeat(38)}… 200 24 ms 203.0.113.1 greenhouse ${'r'.repeat(49)}…\n` +
        `  "Error: ${'a bug '.repeat(40)}"\n  \n  "    at there\\u0000"\n`,
    );
    expect(written('pretty', { list: 'y'.repeat(300) }, 'stopped').slice(10)).toBe(
      `stopped list=${'y'.repeat(300)}\n`,
    );
  });

  const [red, green, yellow] = ['\u001b[31m', '\u001b[32m', '\u001b[33m'];
  it.each([
    [true, 'error', { status: 200, durationMs: 1 }, red],
    [true, 'warn', {}, yellow],
    [true, 'info', {}, undefined],
    [true, 'info', { status: 200, durationMs: 1 }, green],
    [true, 'info', { status: 404, durationMs: 1 }, yellow],
    [true, 'info', { status: 503, durationMs: 1 }, red],
    [true, 'info', { durationMs: 1 }, red],
    [false, 'error', { status: 503, durationMs: 1 }, undefined],
  ] as const)(
    'the log has colours of levels and statuses, only if enabled (%s, %s, %j)',
    (isColored, level, fields, color) => {
      const stream = new PassThrough({ encoding: 'utf8' });
      const log = createLog('pretty', stream, isColored);
      log[level](fields, 'done');
      log.flush();
      const text = String(stream.read());
      expect([red, green, yellow].filter((one) => text.includes(one))).toEqual(
        color ? [color] : [],
      );
    },
  );

  it('the log keeps an exception with its stack, and a bigint', () => {
    const { cause, id } = JSON.parse(
      written('json', { cause: new Error('a bug'), id: 7n }),
    ) as Record<string, string>;
    expect(cause).toMatch(/^Error: a bug\n {4}at /);
    expect(id).toBe('7');
  });

  it('the log writes values that JSON cannot represent', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(written('json', { cause: circle })).toContain('[Circular *1]');
    expect(written('pretty', { path: '/plants', cause: circle })).toMatch(
      /path=\/plants\n {2}.*Circular/,
    );
  });

  it('the log drops lines while the stream is not read, and logs their number later', async () => {
    const stream = new PassThrough({ encoding: 'utf8' });
    const log = createLog('json', stream);
    const path = 'x'.repeat(1_000_000);
    for (let count = 0; count < 100; count += 1) log.info({ path }, 'request');
    await new Promise(setImmediate);
    expect(stream.writableLength).toBeLessThan(10_000_000);
    while (stream.read() !== null);
    log.info({}, 'stopped');
    log.flush();
    const lines = String(stream.read())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string; dropped?: number });
    expect(lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining('missing') as unknown },
      { message: 'stopped' },
    ]);
    expect(lines[0]?.dropped).toBeGreaterThan(80);
  });

  it('the log counts the lines of a write that fails later, as that to a pipe without a reader', () => {
    const writes: string[] = [];
    // As process.stdout, which can be writes again after an error.
    const stream = {
      writableLength: 0,
      write(bytes: Buffer, onWritten: (error?: Error) => void) {
        writes.push(bytes.toString());
        onWritten(writes.length === 1 ? new Error('gone') : undefined);
      },
    } as unknown as Writable;
    const log = createLog('json', stream);
    for (const message of ['one', 'two']) log.info({}, message);
    log.flush();
    expect(writes[1]).toMatch(/missing.*"dropped":2/);
  });

  it.for([
    ['at the end of a line', 0, ['one']],
    ['before the line feed of a line', 1, ['one']],
    ['in the first line', 2, []],
    ['in the second line', -1, ['one']],
  ] as const)(
    'the log has whole lines and no empty one after a write that stopped %s',
    requiresLinux,
    async ([, more, whole]) => {
      const folder = await newFolder();
      await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
      const flags = constants.O_RDWR | constants.O_NONBLOCK;
      const pipe = await open(join(folder, 'pipe'), flags);
      onTestFinished(async () => pipe.close());
      const log = createLog('json', Object.assign(new PassThrough(), { fd: pipe.fd }));
      const chunk = Buffer.alloc(100_000);
      const read = async () => chunk.toString('utf8', 0, (await pipe.read(chunk)).bytesRead);
      log.info({ path: '' }, 'one');
      log.flush();
      const { length } = await read();
      // A pipe of Linux holds 64 KiB.
      log.info({ path: 'x'.repeat(65_536 + more - length) }, 'one');
      log.info({}, 'two');
      log.flush();
      let text = await read();
      for (const message of ['three', 'four']) {
        log.info({}, message);
        log.flush();
        text += await read();
      }
      expect(text.endsWith('\n')).toBe(true);
      const lines = text.slice(0, -1).split('\n');
      expect(lines).not.toContain('');
      const isWhole = (line: string) => line.endsWith('}');
      expect(lines.filter((line) => !isWhole(line))).toHaveLength(more === 0 || more === 1 ? 0 : 1);
      const events = lines
        .filter(isWhole)
        .map((line) => JSON.parse(line) as { message: string; dropped?: number });
      expect(events.map(({ message, dropped }) => dropped ?? message)).toEqual([
        ...whole,
        2 - whole.length,
        'three',
        'four',
      ]);
    },
  );

  it.each<LogFormat>(['json', 'pretty'])('the log writes any text on one line (%s)', (format) => {
    const text = Array.from({ length: 2 ** 16 }, (_, code) => String.fromCharCode(code)).join('');
    const line = written(format, { path: text });
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(line.at(-1)).toBe('\n');
    if (format === 'json') expect((JSON.parse(line) as { path: string }).path).toBe(text);
  });
});
