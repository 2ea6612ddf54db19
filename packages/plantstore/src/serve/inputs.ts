import { lookup } from 'node:dns/promises';
import { tlsFaultOf, type TlsOptions } from '@plantstore/server';
import { err, ok, Result } from 'neverthrow';
import type { HandedSockets } from '../settings/handed-sockets.ts';
import { sourceOf } from '../settings/setting-table.ts';
import type { Settings } from '../settings/settings.ts';
import { shown } from '../settings/text.ts';
import { createTokenSet, type TokenSet } from '../settings/token-set.ts';
import { loadPrometheus, type Prometheus } from './metrics.ts';
import { parseTokens } from './parse-tokens.ts';
import { readSettingFile } from './read-setting-file.ts';

/** Reads all that the settings name except the database. All failures are reported together. */
export async function loadInputs(
  settings: Settings,
  sockets: HandedSockets,
): Promise<Result<Inputs, StartFailure>> {
  const host = await resolveHost(settings, sockets);
  return Result.combineWithAllErrors([
    host,
    await loadTls(settings),
    await loadTokens(settings),
    settings.metrics ? await loadPrometheus() : ok(undefined),
  ])
    .map(([, tls, tokens, prometheus]) => ({ tls, tokens, prometheus }))
    .mapErr((messages) => ({ messages, status: host.isErr() ? 2 : 1 }));
}

/** What a start reads before it opens the database and its sockets. */
export type Inputs = {
  readonly tls: TlsOptions | undefined;
  readonly tokens: TokenSet;
  readonly prometheus: Prometheus | undefined;
};

/** Why the server cannot start: messages of one line for the operator, and the exit status. */
export type StartFailure = {
  readonly messages: readonly string[];
  /** 2 if the next start would fail, too. */
  readonly status: 1 | 2;
};

/** Resolves the host: a start with a wrong name would fail after it has opened the database. */
async function resolveHost(
  { host, healthPort, reusePort }: Settings,
  sockets: HandedSockets,
): Promise<Result<void, string>> {
  const opensHealth = healthPort !== undefined && sockets.health === undefined;
  if (sockets.plants !== undefined && !opensHealth) return ok();
  try {
    await lookup(host);
    return ok();
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const reason =
      code === 'ENOTFOUND'
        ? `${shown(host)} is an unknown host name; choose another host`
        : `${shown(host)} cannot be resolved: ${message}`;
    return err(
      sockets.plants === undefined
        ? cannotServe({ reusePort }, sockets, reason)
        : `cannot serve health (${sourceOf('host')}): ${reason}`,
    );
  }
}

/** Returns a message for a socket of plants that cannot be used. */
export function cannotServe(
  { reusePort }: Pick<Settings, 'reusePort'>,
  { plants }: HandedSockets,
  message: string,
): string {
  const names = ['host', 'port', ...(reusePort ? (['reusePort'] as const) : [])] as const;
  const source = plants === undefined ? sourceOf(...names) : 'LISTEN_FDS';
  return `cannot serve plants (${source}): ${message}`;
}

/** Reads the certificate and the key, if there are any, and checks that they can be used. */
export async function loadTls({
  tlsCert,
  tlsKey,
}: Pick<Settings, 'tlsCert' | 'tlsKey'>): Promise<Result<TlsOptions | undefined, string>> {
  if (tlsCert === undefined || tlsKey === undefined) return ok(undefined);
  const cert = await readSettingFile(tlsCert);
  if (cert.isErr()) return err(cannotUse.cert(tlsCert, cert.error));
  const key = await readSettingFile(tlsKey);
  if (key.isErr()) return err(cannotUse.key(tlsKey, key.error));
  // Bytes, because a heap snapshot contains strings.
  const tls = { cert: cert.value, key: key.value };
  const fault = tlsFaultOf(tls);
  if (fault === undefined) return ok(tls);
  return err(cannotUse[fault.part](fault.part === 'cert' ? tlsCert : tlsKey, fault.why));
}

/** Returns the tokens that the settings name; none if one is to be generated. */
export async function loadTokens({
  tokensFile,
  tokens = createTokenSet([]),
}: Pick<Settings, 'tokensFile' | 'tokens'>): Promise<Result<TokenSet, string>> {
  if (tokensFile === undefined) return ok(tokens);
  const read = await readSettingFile(tokensFile);
  return read
    .mapErr((reason) => `${reason}; name a file with one token per line`)
    .andThen(parseTokens)
    .map(createTokenSet)
    .mapErr((reason) => cannotUse.tokens(tokensFile, reason));
}

const cannotUse = {
  cert: (path: string, reason: string) =>
    `cannot use the certificate (${sourceOf('tlsCert')}): ${shown(path)} ${reason}; name a file with its chain in PEM`,
  key: (path: string, reason: string) =>
    `cannot use the key (${sourceOf('tlsKey')}): ${shown(path)} ${reason}; name a file with the certificate's key in PEM`,
  tokens: (path: string, reason: string) =>
    `cannot use the tokens file (${sourceOf('tokensFile')}): ${shown(path)} ${reason}`,
};
