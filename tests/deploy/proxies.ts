import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Certificate, makeCertificate } from '@plantstore/test-support/certificate';
import { freePort } from '@plantstore/test-support/free-port';
import { newFolder } from '../black-box/program.ts';
import { onTestFinished } from 'vitest';

/** A proxy of the `deploy` folder, as a process in front of a port of this machine. */
export type Proxy = {
  readonly port: number;
  /** The authority of its certificate, in PEM. */
  readonly ca: string;
  /** What it has logged of requests. */
  readonly accessLog: () => Promise<string>;
};

/** What a test changes of a proxy's file. */
export type ProxyOptions = {
  /** The port of the server behind it. */
  readonly upstream: number;
  /** Texts of the file and what replaces them. */
  readonly changes?: readonly (readonly [string, string])[];
};

type Place = {
  readonly folder: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
};

type Kind = {
  readonly name: string;
  readonly file: string;
  /** How long an idle connection to the server is kept, in the file, in seconds. */
  readonly idleSeconds: RegExp;
  readonly refusesLargeBodies: 'the proxy' | 'the server';
  /** Replaces timeouts that a test would wait for. */
  readonly impatient: readonly (readonly [string, string])[];
  /** Replaces what belongs to the machine that the file is written for. */
  readonly relocate: (place: Place) => readonly (readonly [string, string])[];
  /** Writes what else the program needs and returns its command line. */
  readonly prepare: (file: string, folder: string) => Promise<readonly [string, ...string[]]>;
};

const accessLogIn = (folder: string): string => join(folder, 'access.log');

const nginx: Kind = {
  name: 'nginx',
  file: 'nginx.conf',
  refusesLargeBodies: 'the proxy',
  idleSeconds: /^ +keepalive_timeout (\d+)s;$/m,
  impatient: [['client_body_timeout 15s', 'client_body_timeout 1s']],
  relocate: ({ folder, port, cert, key }) => [
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['    listen [::]:443 ssl http2;\n', ''],
    ['/etc/ssl/plants.example/fullchain.pem', cert],
    ['/etc/ssl/plants.example/privkey.pem', key],
    ['/var/log/nginx/plantstore.log', accessLogIn(folder)],
  ],
  prepare: async (file, folder) => {
    const path = join(folder, 'main.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (use) => `${use}_temp_path ${join(folder, use)};`,
    );
    // As root, its workers would be of a user who may not enter the folder.
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    await writeFile(
      path,
      `${user} daemon off; pid ${join(folder, 'pid')}; worker_processes 1; events {}
      http { ${temporary.join(' ')} include ${file}; }`,
    );
    return ['nginx', '-p', folder, '-c', path, '-e', join(folder, 'error.log')];
  },
};

const caddy: Kind = {
  name: 'Caddy',
  file: 'Caddyfile',
  // Caddy does not wait for the whole body before it sends it on.
  refusesLargeBodies: 'the server',
  idleSeconds: /^\s+keepalive (\d+)s$/m,
  impatient: [
    ['read_body 60s', 'read_body 1s'],
    ['lb_try_duration 5s', 'lb_try_duration 100ms'],
  ],
  relocate: ({ folder, port, cert, key }) => [
    ['{\n\tservers {', '{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {'],
    ['plants.example {', `https://127.0.0.1:${port} {\n\ttls ${cert} ${key}`],
    ['/var/log/caddy/plantstore.log', accessLogIn(folder)],
  ],
  prepare: async (file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
};

/** The proxies that have a file in the `deploy` folder. */
export const proxyKinds: readonly Kind[] = [nginx, caddy];

/** The text of a file in the `deploy` folder. */
export const readDeployFile = async (name: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url)), 'utf8');

const replaceEach = (text: string, changes: readonly (readonly [string, string])[]): string => {
  let changed = text;
  for (const [from, to] of changes) {
    if (!changed.includes(from)) throw new Error(`the file no longer has ${JSON.stringify(from)}`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
};

const accepts = async (port: number): Promise<boolean> => {
  const socket = connect({ port, host: '127.0.0.1' });
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return outcome;
};

const untilAccepting = async (child: ChildProcess, port: number, said: () => string) => {
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`the proxy ended: ${said()}`);
    await sleep(20);
  }
};

const start = async (command: readonly [string, ...string[]], folder: string, port: number) => {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const exited = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  await untilAccepting(child, port, () => said);
};

/** Starts a proxy with its file of the `deploy` folder and waits until it accepts connections. */
export const startProxy = async (
  { file, relocate, prepare }: Kind,
  { upstream, changes = [] }: ProxyOptions,
): Promise<Proxy> => {
  const folder = await newFolder();
  const { cert, key }: Certificate = await makeCertificate();
  const port = await freePort();
  const place = { folder, port, cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await writeFile(place.cert, cert);
  await writeFile(place.key, key);
  const text = replaceEach(await readDeployFile(file), [
    ...changes,
    ...relocate(place),
    ['127.0.0.1:3000', `127.0.0.1:${upstream}`],
  ]);
  const path = join(folder, file);
  await writeFile(path, text);
  await start(await prepare(path, folder), folder, port);
  return { port, ca: cert, accessLog: async () => readFile(accessLogIn(folder), 'utf8') };
};
