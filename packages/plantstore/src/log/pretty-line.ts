import { styleText } from 'node:util';
import type { Logger } from '@plantstore/server';

export type Level = keyof Logger;
export type Fields = Readonly<Record<string, unknown>>;
type Style = Parameters<typeof styleText>[0];

/**
 * Creates a function that formats an event for people in one line. The lines of a cause follow, indented by two spaces.
 *
 * @param show - returns a value as text without control characters
 * @param isColored - whether the time, levels and statuses have colours
 */
export function createPrettyLine(show: (value: unknown) => string, isColored: boolean) {
  const style = (as: Style | undefined, text: string): string =>
    // Not validated, because the stream may differ from process.stdout.
    isColored && as !== undefined ? styleText(as, text, { validateStream: false }) : text;

  return (time: string, level: Level, fields: Fields, message: string): string => {
    const { cause, ...others } = fields;
    const isRequest = typeof fields['durationMs'] === 'number';
    const words = isRequest
      ? wordsOfRequest(show, level, others, message)
      : [
          ...wordsOf(level, message),
          ...Object.entries(others)
            .filter(([, value]) => value !== undefined)
            .map(([name, value]) => `${name}=${show(value)}`),
        ];
    const as = levelStyles[level] ?? (isRequest ? statusStyle(fields['status']) : undefined);
    const head = `${style('dim', `${time.slice(11, 19)}Z`)} ${style(as, words.join(' '))}`;
    if (cause === undefined) return head;
    // A stack has one line per call.
    const below = typeof cause === 'string' ? cause.split('\n') : [cause];
    return [head, ...below.map((one) => `  ${one === '' ? '' : show(one)}`)].join('\n');
  };
}

/** Maximum lengths of what a client chooses, in characters. */
const maxPathLength = 40;
const maxWordLength = 50;

function wordsOfRequest(
  show: (value: unknown) => string,
  level: Level,
  { method, path, status, error, durationMs, client, tokenName, requestId }: Fields,
  message: string,
): string[] {
  const shown = (values: readonly unknown[]): string[] =>
    values.filter((one) => one !== undefined).map((one) => cut(show(one), maxWordLength));
  const ms = Number(durationMs);
  return [
    show(method ?? '-'),
    cut(show(path ?? '-'), maxPathLength),
    ...shown([status, error]),
    `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`,
    ...shown([client, tokenName, requestId]),
    ...(message === 'request' ? [] : wordsOf(level, message)),
  ];
}

function wordsOf(level: Level, message: string): string[] {
  return level === 'info' ? [message] : [level.toUpperCase(), message];
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

const levelStyles = { info: undefined, warn: 'yellow', error: 'red' } as const;

function statusStyle(status: unknown): Style {
  return typeof status !== 'number' || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
}
