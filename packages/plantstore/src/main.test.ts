import { hasSubscribers } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { defaultOf, settingNames } from './settings/setting-table.ts';
import { acceptingMessage } from './serve/log-messages.ts';
import { main } from './main.ts';
import { newFolder } from '../test/run-in-folder.ts';

const outside = (argv: readonly string[]) => ({
  argv,
  env: { PLANTSTORE_PORT: '0', PLANTSTORE_DATABASE: 'memory:' },
  stdin: () => new PassThrough(),
  stdout: new PassThrough({ encoding: 'utf8' }),
  stderr: new PassThrough({ encoding: 'utf8' }),
  signals: new EventEmitter(),
  endAtOnce: vi.fn(),
});

describe('main', () => {
  it('main serves until a signal, resolves with 0, and has listeners for signals until the exit', async () => {
    const options = outside([]);
    const status = main(options);
    const [first] = (await once(options.stdout, 'data')) as [string];
    const { url } = JSON.parse(first) as { url: string };
    expect((await fetch(url)).status).toBe(405);
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    // Without one, a signal would end the process with its own status.
    expect(options.signals.emit('SIGTERM')).toBe(true);
    expect(options.endAtOnce).not.toHaveBeenCalled();
  });

  it('main writes pretty log lines to a terminal', async () => {
    const options = outside([]);
    const status = main({ ...options, stdout: Object.assign(options.stdout, { isTTY: true }) });
    expect(await once(options.stdout, 'data')).toEqual([
      expect.stringMatching(new RegExp(`^\\d\\d:\\d\\d:\\d\\dZ ${acceptingMessage}`)),
    ]);
    options.signals.emit('SIGINT');
    expect(await status).toBe(0);
  });

  it('main stops after its start if the signal arrives during it', async () => {
    const options = outside([]);
    const status = main(options);
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
  });

  it.each([
    ['at a second signal', ['SIGTERM', 'SIGTERM']],
    ['after an uncaught exception', ['uncaughtException']],
  ])('main stops at once %s while the database does not respond', async (_, events) => {
    const server = createServer().listen(0, '127.0.0.1');
    const connected = once(server, 'connection') as Promise<[Socket]>;
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const options = outside(['--database', `postgres://ada@127.0.0.1:${port}/a?connect_timeout=0`]);
    const status = main(options);
    const [socket] = await connected;
    onTestFinished(() => {
      socket.destroy();
      server.close();
    });
    for (const event of events) options.signals.emit(event, new Error('a bug'));
    expect(await status).toBe(1);
    expect(options.endAtOnce).toHaveBeenCalledOnce();
  });

  it.each([
    ['a second signal', 'SIGTERM'],
    ['an uncaught exception', 'uncaughtException'],
  ])('main stops at once at %s while the last log lines are not read', async (_, event) => {
    const options = outside([]);
    const stdout = new Writable({
      write(lines: Buffer, _encoding, onWritten) {
        if (!lines.includes('"stopped"')) onWritten();
        else setImmediate(() => options.signals.emit(event, new Error('a bug')));
      },
    });
    const status = main({ ...options, stdout });
    options.signals.emit('SIGTERM');
    expect(await status).toBe(1);
    expect(options.endAtOnce).toHaveBeenCalledOnce();
  });

  it('main opens the health port on the same host', async () => {
    const options = outside(['--host', '127.0.0.2', '--health-port', '0']);
    const status = main(options);
    const [first] = (await once(options.stdout, 'data')) as [string];
    const { health } = JSON.parse(first) as { health: string };
    expect(new URL(health).hostname).toBe('127.0.0.2');
    expect((await fetch(`${health}/livez`)).status).toBe(200);
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
  });

  it('main closes the health port and unsubscribes from requests when it stops', async () => {
    const options = outside(['--health-port', '0', '--metrics', 'on']);
    const status = main(options);
    const [first] = (await once(options.stdout, 'data')) as [string];
    const { health } = JSON.parse(first) as { health: string };
    expect((await fetch(`${health}/metrics`)).status).toBe(200);
    expect(hasSubscribers('plantstore:request:end')).toBe(true);
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
    await expect(fetch(`${health}/livez`)).rejects.toThrow('fetch failed');
    expect(hasSubscribers('plantstore:request:end')).toBe(false);
  });

  it('main removes secrets from the environment', async () => {
    const options = outside([]);
    const env = { ...options.env, PLANTSTORE_TOKENS: 's3cr3t', PATH: '/bin' };
    const status = main({ ...options, env });
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
    expect(env).toEqual({ PLANTSTORE_PORT: '0', PATH: '/bin' });
  });

  it('main removes secrets from the environment of a command, too', async () => {
    const env = {
      PLANTSTORE_DATABASE: 'memory:',
      PLANTSTORE_TOKENS: 's3cr3t',
      PLANTSTORE_PORT: '0',
    };
    expect(await main({ ...outside(['check']), env })).toBe(2);
    expect(env).toEqual({ PLANTSTORE_PORT: '0' });
  });

  it('main removes an unknown variable from the environment, because it may contain a secret', async () => {
    const options = outside([]);
    const env = { ...options.env, PLANTSTORE_TOKNES: 's3cr3t' };
    const status = main({ ...options, env });
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
    expect(env).toEqual({ PLANTSTORE_PORT: '0' });
  });

  it('main reloads its files after its first line if SIGHUP arrived during the start', async () => {
    const options = outside([]);
    const status = main(options);
    options.signals.emit('SIGHUP');
    const messages: string[] = [];
    for await (const line of createInterface(options.stdout)) {
      messages.push((JSON.parse(line) as { message: string }).message);
      if (messages.length === 2) break;
    }
    expect(messages).toEqual([
      acceptingMessage,
      expect.stringContaining('were generated and stay'),
    ]);
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
  });

  it('main ends the process at once after an uncaught exception, also during the start', async () => {
    const options = outside([]);
    const status = main(options);
    options.signals.emit('uncaughtException', new Error('a bug'));
    expect(await status).toBe(1);
    expect(options.endAtOnce).toHaveBeenCalledOnce();
    expect(options.stdout.read()).toMatch(/"error".*a bug/);
  });

  it('main ends the process at once after an uncaught exception during a stop', async () => {
    const options = outside([]);
    const status = main(options);
    await once(options.stdout, 'data');
    options.signals.emit('SIGTERM');
    options.signals.emit('uncaughtException', new Error('a bug'));
    expect(await status).toBe(1);
    expect(options.endAtOnce).toHaveBeenCalledOnce();
  });

  it('main reports wrong settings on standard error only', async () => {
    const options = outside(['--port', 'x']);
    expect(await main(options)).toBe(2);
    expect(options.stdout.read()).toBe(null);
    expect(options.stderr.read()).toBe(
      'plantstore: --port must be a whole number from 0 to 65535, not "x"\n',
    );
    expect(options.signals.eventNames()).toEqual([]);
  });

  it.each([
    ['-h', /^Usage: /],
    ['-v', /^\d+\.\d+\.\d+/],
  ])('main treats %s as its long form', async (flag, text) => {
    const options = outside([flag]);
    expect(await main(options)).toBe(0);
    expect(options.stdout.read()).toMatch(text);
  });

  it('main shows with --check-settings every setting and where it is from, without a secret', async () => {
    const options = outside([
      '--check-settings',
      '--port',
      '8080',
      '--metrics=on',
      '--health-port=0',
    ]);
    const env = {
      PLANTSTORE_PORT: '1',
      PLANTSTORE_DATABASE: 'postgres://ada:an@s3cr3t@db/garden?password=s3cr3t',
      PLANTSTORE_TOKENS: 's3cr3t',
      PLANTSTORE_CORS_ORIGINS: 'https://one.example, https://two.example',
      PLANTSTORE_HOTS: 's3cr3t',
    };
    expect(await main({ ...options, env })).toBe(0);
    const text = String(options.stdout.read());
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(lines).toEqual(
      expect.arrayContaining([
        ['--host', 'default', defaultOf('host')],
        ['--port', '--port', '8080'],
        ['--database', 'PLANTSTORE_DATABASE', 'postgres://db/garden'],
        ['PLANTSTORE_TOKENS', 'PLANTSTORE_TOKENS', 'set, not shown'],
        ['--cors-origins', 'PLANTSTORE_CORS_ORIGINS', 'https://one.example,https://two.example'],
        ['--metrics', '--metrics', 'on'],
        ['--max-in-flight', 'default', defaultOf('maxInFlight')],
      ]),
    );
    expect(lines).toHaveLength(settingNames.length);
    const warned = String(options.stderr.read());
    expect(warned).toContain('variables that are no settings: PLANTSTORE_HOTS');
    expect(text + warned).not.toContain('s3cr3t');
  });

  it('main shows with --check-settings that a tokens file replaces PLANTSTORE_TOKENS', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'tokens'), 'one\n');
    const options = outside(['--check-settings', '--tokens-file', join(folder, 'tokens')]);
    const env = { PLANTSTORE_TOKENS: 's3cr3t' };
    for (const one of [options, { ...outside(options.argv), env }]) {
      expect(await main(one)).toBe(0);
      expect(one.stdout.read()).toMatch(/^PLANTSTORE_TOKENS .* ignored: --tokens-file is set$/m);
    }
  });

  it('main reports wrong settings with --check-settings, and exits with 2', async () => {
    const options = outside(['--check-settings', '--port', 'x']);
    expect(await main(options)).toBe(2);
    expect(options.stdout.read()).toBe(null);
    expect(options.stderr.read()).toContain('--port must be');
  });

  it.each(['-hv', '-x'])('the program takes no other short form: %s', async (flag) => {
    const options = outside([flag, '--port', 'x']);
    expect(await main(options)).toBe(flag === '-hv' ? 0 : 2);
  });
});
