import { isBearerToken } from '@plantstore/core/wire';
import type { AcceptedToken } from '@plantstore/server';
import { err, ok, type Result } from 'neverthrow';
import { tokenForm } from '../settings/setting-table.ts';

/** Parses a tokens file. The error names the first wrong line, whose text may be a token. */
export function parseTokens(file: Buffer): Result<readonly AcceptedToken[], string> {
  const text = file.toString('utf8');
  if (text.includes('\0')) return err('it is not UTF-8, but UTF-16, for example: save it as UTF-8');
  const tokens = new Map<string, AcceptedToken>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const parsed = parseLine(line);
    if (parsed.isErr()) return err(`line ${index + 1} ${parsed.error}`);
    const { token, name, endsAt } = parsed.value;
    const before = tokens.get(token);
    // Else a line could remove the end of a token.
    if (before !== undefined && (before.name !== name || before.endsAt !== endsAt))
      return err(`line ${index + 1} has the token of another line with another name or date`);
    tokens.set(token, parsed.value);
  }
  return tokens.size === 0 ? err('it has no token') : ok([...tokens.values()]);
}

const lineForm =
  `must be a token (${tokenForm}), and then name=NAME (1 to 32 letters, digits and -._) ` +
  'or until=DATE (the last day, such as 2027-01-31), each at most once';

function parseLine(line: string): Result<AcceptedToken, string> {
  if (/[\p{Cf}\ufffd]/u.test(line))
    return err('has an invisible character, or text that is not UTF-8: write the line again');
  const [token = '', ...words] = line.split(/\s+/);
  const given = new Map(words.map((word) => [word.split('=', 1)[0], word.replace(/^[^=]*=?/, '')]));
  const [name, until] = [given.get('name'), given.get('until')];
  const endsAt = until === undefined ? undefined : endOf(until);
  const isOther = [...given.keys()].some((key) => key !== 'name' && key !== 'until');
  if (!isBearerToken(token) || isOther || given.size < words.length) return err(lineForm);
  if (!/^[\w.-]{1,32}$/.test(name ?? 'none') || Number.isNaN(endsAt)) return err(lineForm);
  return ok({
    token,
    // A copy, because a substring keeps the whole file with its tokens in memory.
    ...(name !== undefined && { name: Buffer.from(name).toString() }),
    ...(endsAt !== undefined && { endsAt }),
  });
}

const dayMs = 86_400_000;

/** Returns the end of a day in UTC; NaN for an invalid date. */
function endOf(date: string): number {
  const start = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) : Number.NaN;
  // Some engines parse the 30th of February as a day in March.
  const isDate = !Number.isNaN(start) && new Date(start).toISOString().startsWith(date);
  return isDate ? start + dayMs : Number.NaN;
}
