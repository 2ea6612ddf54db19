import { hasSubscribers } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { defaultOf, settingNames } from './settings/setting-table.ts';
import { acceptingMessage } from './serve/log-messages.ts';
import { main } from './main.ts';

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

  it.each([true, false])(
    'main writes lines for people to a terminal, whose colours are %s',
    async (hasColors) => {
      const options = outside([]);
      const terminal = { isTTY: true, hasColors: () => hasColors };
      const status = main({ ...options, stdout: Object.assign(options.stdout, terminal) });
      const [first] = (await once(options.stdout, 'data')) as [string];
      expect(first.includes('\u001b[')).toBe(hasColors);
      expect(stripVTControlCharacters(first)).toMatch(
        new RegExp(`^\\d\\d:\\d\\d:\\d\\dZ ${acceptingMessage}`),
      );
      options.signals.emit('SIGINT');
      expect(await status).toBe(0);
    },
  );

  it.each([
    ['at a second signal', ['SIGTERM', 'SIGTERM']],
    ['after an uncaught exception', ['uncaughtException']],
  ])('main stops at once %s while the database does not respond', async (_, events) => {
    const server = createServer().listen(0, '127.0.0.1');
    const connected = once(server, 'connection') as Promise<[Socket]>;
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const options = outside([
      '--database',
      `postgres://ada@127.0.0.1:${port}/a?connect_timeout=60`,
    ]);
    const status = main(options);
    const [socket] = await connected;
    onTestFinished(() => {
      socket.destroy();
      server.close();
    });
    for (const event of events) options.signals.emit(event, new Error('a bug'));
    expect(await status).toBe(1);
    expect(options.endAtOnce).toHaveBeenCalledOnce();
    if (events.length === 1) expect(options.stdout.read()).toMatch(/"error".*a bug/);
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

  it('main opens the health port on the same host, and closes it and unsubscribes from requests when it stops', async () => {
    const options = outside(['--host', '127.0.0.2', '--health-port', '0', '--metrics', 'on']);
    const status = main(options);
    const [first] = (await once(options.stdout, 'data')) as [string];
    const { health } = JSON.parse(first) as { health: string };
    expect(new URL(health).hostname).toBe('127.0.0.2');
    expect((await fetch(`${health}/metrics`)).status).toBe(200);
    expect(hasSubscribers('plantstore:request:end')).toBe(true);
    options.signals.emit('SIGTERM');
    expect(await status).toBe(0);
    await expect(fetch(`${health}/livez`)).rejects.toThrow('fetch failed');
    expect(hasSubscribers('plantstore:request:end')).toBe(false);
  });

  it.each([
    ['a server that stops after its start', [], 0],
    ['a command', ['check'], 2],
  ])(
    'main removes secrets from the environment of %s, and what may be one',
    async (_, argv, expected) => {
      const options = outside(argv);
      const secrets = { PLANTSTORE_TOKENS: 's3cr3t', PLANTSTORE_TOKNES: 's3cr3t' };
      const env = { ...options.env, ...secrets, PATH: '/bin' };
      const status = main({ ...options, env });
      options.signals.emit('SIGTERM');
      expect(await status).toBe(expected);
      expect(env).toEqual({ PLANTSTORE_PORT: '0', PATH: '/bin' });
    },
  );

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

  it('main reports wrong settings on standard error only', async () => {
    const options = outside(['--port', 'x']);
    expect(await main(options)).toBe(2);
    expect(options.stdout.read()).toBe(null);
    expect(options.stderr.read()).toBe(
      'plantstore: --port must be a whole number from 0 to 65535, not "x"\n',
    );
    expect(options.signals.eventNames()).toEqual([]);
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
});
