import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '@plantstore/test-support/certificate';
import { freePort } from '@plantstore/test-support/free-port';
import { onTestFinished } from 'vitest';
import { newFolder, spawnProgram, token } from '../black-box/program.ts';
import { read } from '../docs/pages.ts';

/** A proxy as a process in front of a port of this machine. */
export type Proxy = {
  readonly port: number;
  /** Posts a body to `/plants` over TLS, with the token. */
  readonly send: (body: string, options?: SendOptions) => Promise<Received>;
};

type SendOptions = { readonly path?: string; readonly headers?: Readonly<Record<string, string>> };

type Received = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
};

/** Starts a proxy as on its page, in front of a port, and waits until it accepts connections. */
export async function startProxy(name: keyof typeof proxies, upstream: number): Promise<Proxy> {
  const { block, prepare } = proxies[name];
  const folder = await newFolder();
  const { cert, key } = await makeCertificate();
  const port = await freePort();
  const place = { folder, port, cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await writeFile(place.cert, cert);
  await writeFile(place.key, key);
  const [, fromPage = ''] = block.exec(read('docs/operating.md')) ?? [];
  const [file, content, command] = prepare(
    replace(fromPage, '127.0.0.1:3000', `127.0.0.1:${upstream}`),
    place,
  );
  await writeFile(join(folder, file), content);
  const proxy = spawnProgram({ command, env: { HOME: folder } });
  // Killed, nginx would leave its workers.
  onTestFinished(async () => {
    proxy.process.kill('SIGTERM');
    await proxy.exited;
  });
  while (!(await accepts(port))) {
    if (proxy.process.exitCode !== null) throw new Error(`the proxy ended: ${proxy.stderr()}`);
    await sleep(20);
  }
  const agent = new Agent({ ca: cert, keepAlive: true });
  onTestFinished(() => agent.destroy());
  return {
    port,
    send: async (body, { path = '/plants', headers = {} } = {}) => {
      const sent = request({ agent, host: '127.0.0.1', port, path, method: 'POST' });
      const all = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      for (const field of Object.entries({ ...all, ...headers })) sent.setHeader(...field);
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const { statusCode: status, headers: received } = response;
      return { status, headers: received, body: await text(response) };
    },
  };
}

type Place = Readonly<Record<'folder' | 'cert' | 'key', string>> & { readonly port: number };

type Kind = {
  /** The configuration in docs/operating.md. */
  readonly block: RegExp;
  /** Returns the configuration for this machine with its file's name, and the command. */
  readonly prepare: (
    page: string,
    place: Place,
  ) => readonly [file: string, content: string, command: [string, ...string[]]];
};

/** The proxies of docs/operating.md. */
export const proxies = {
  nginx: {
    block: /```nginx\n(.*?)```/s,
    prepare(page, { folder, port, cert, key }) {
      const server = [
        ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
        ['/etc/ssl/plants.example/fullchain.pem', cert],
        ['/etc/ssl/plants.example/privkey.pem', key],
      ].reduce((changed, [from = '', to = '']) => replace(changed, from, to), page);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (use) => `${use}_temp_path ${join(folder, use)};`,
      );
      // As root, its workers would be of a user who may not enter the folder.
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const main = `${user} daemon off; pid ${join(folder, 'pid')}; events {}
        http { access_log off; ${temporary.join(' ')} ${server} }`;
      const log = join(folder, 'error.log');
      const args = ['-p', folder, '-c', join(folder, 'main.conf'), '-e', log];
      return ['main.conf', main, ['nginx', ...args]];
    },
  },
  Caddy: {
    block: /```text\n(plants\.example \{\n {2}reverse_proxy.*?)```/s,
    prepare(page, { folder, port, cert, key }) {
      const site = `{\n admin off\n auto_https disable_redirects\n}\n${replace(
        page,
        'plants.example {',
        `https://127.0.0.1:${port} {\n tls ${cert} ${key}`,
      )}`;
      const file = join(folder, 'Caddyfile');
      return ['Caddyfile', site, ['caddy', 'run', '--config', file, '--adapter', 'caddyfile']];
    },
  },
} satisfies Readonly<Record<string, Kind>>;

function replace(content: string, from: string, to: string): string {
  if (!content.includes(from)) throw new Error(`the page no longer has ${JSON.stringify(from)}`);
  return content.replaceAll(from, to);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const accepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return accepted;
}
