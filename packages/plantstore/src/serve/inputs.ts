import { readFile, stat } from 'node:fs/promises';
import { tlsFaultOf, type TlsOptions } from '@plantstore/server';
import { err, ok, Result } from 'neverthrow';
import { fileErrorReason } from '../file-error-reason.ts';
import { type SettingName, sourceOf } from '../settings/setting-table.ts';
import type { Settings } from '../settings/settings.ts';
import { shown } from '../settings/text.ts';
import { createTokenSet, type TokenSet } from '../settings/token-set.ts';
import { loadPrometheus, type Prometheus } from './metrics.ts';
import { parseTokens } from './parse-tokens.ts';

/** Reads all that the settings name except the database. All failures are reported together. */
export async function loadInputs(settings: Settings): Promise<Result<Inputs, string[]>> {
  return Result.combineWithAllErrors([
    await loadTls(settings),
    await loadTokens(settings),
    settings.metrics ? await loadPrometheus() : ok(undefined),
  ]).map(([tls, tokens, prometheus]) => ({ tls, tokens, prometheus }));
}

/** What a start reads before it opens the database and its sockets. */
export type Inputs = {
  readonly tls: TlsOptions | undefined;
  readonly tokens: TokenSet;
  readonly prometheus: Prometheus | undefined;
};

/** Reads the certificate and the key, if there are any, and checks that they can be used. */
export async function loadTls({
  tlsCert,
  tlsKey,
}: Pick<Settings, 'tlsCert' | 'tlsKey'>): Promise<Result<TlsOptions | undefined, string>> {
  if (tlsCert === undefined || tlsKey === undefined) return ok(undefined);
  const cert = await readSetting('tlsCert', tlsCert);
  const key = await readSetting('tlsKey', tlsKey);
  return Result.combine([cert, key]).andThen(([certificate, itsKey]) => {
    // Bytes, because a heap snapshot contains strings.
    const tls = { cert: certificate, key: itsKey };
    const fault = tlsFaultOf(tls);
    if (fault === undefined) return ok(tls);
    const isCert = fault.part === 'cert';
    const [name, path] = isCert ? (['tlsCert', tlsCert] as const) : (['tlsKey', tlsKey] as const);
    return err(cannotUse(name, path, `it ${fault.why}`));
  });
}

/** Returns the tokens that the settings name; none if one is to be generated. */
export async function loadTokens({
  tokensFile,
  tokens = createTokenSet([]),
}: Pick<Settings, 'tokensFile' | 'tokens'>): Promise<Result<TokenSet, string>> {
  if (tokensFile === undefined) return ok(tokens);
  const read = await readSetting('tokensFile', tokensFile);
  return read.andThen((file) =>
    parseTokens(file)
      .map(createTokenSet)
      .mapErr((reason) => cannotUse('tokensFile', tokensFile, reason)),
  );
}

/** The files that the settings name: what they are in a message, and what to name. */
const files = {
  tlsCert: ['the certificate', 'a file with its chain in PEM'],
  tlsKey: ['the key', "a file with the certificate's key in PEM"],
  tokensFile: ['the tokens file', 'a file with one token per line'],
} as const satisfies { [name in SettingName]?: unknown };

async function readSetting(
  name: keyof typeof files,
  path: string,
): Promise<Result<Buffer, string>> {
  try {
    const stats = await stat(path);
    // Opening a pipe blocks until it has a writer, and a device may have no end.
    if (!stats.isFile() && !stats.isDirectory())
      return err(cannotUse(name, path, 'it is a pipe or a device'));
    return ok(await readFile(path));
  } catch (thrown) {
    return err(cannotUse(name, path, fileErrorReason(thrown)));
  }
}

function cannotUse(name: keyof typeof files, path: string, reason: string): string {
  const [what, instead] = files[name];
  return `cannot use ${what} (${sourceOf(name)}): ${shown(path)}: ${reason}; name ${instead}`;
}
