import { styleText } from 'node:util';
import type { Logger } from '../http/logger.ts';

type Level = keyof Logger;
type Fields = Readonly<Record<string, unknown>>;
type Style = Parameters<typeof styleText>[0];

const columns = 100;
const indent = '  ';
/** The client chooses the path, so it may be long. */
const maxPathLength = 40;

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Splits a word that is longer than a line. */
const pieces = (word: string): string[] =>
  word.match(new RegExp(`.{1,${columns - indent.length}}`, 'gsu')) ?? [];

/** Wraps words into lines of at most 100 columns; all but the first are indented. */
const wrap = (words: readonly string[]): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const piece of words.flatMap(pieces)) {
    if (line !== '' && line.length + 1 + piece.length > columns) {
      lines.push(line);
      line = indent + piece;
    } else line += line === '' ? piece : ` ${piece}`;
  }
  return [...lines, line];
};

const levelStyles: Readonly<Record<Level, Style | undefined>> = {
  info: undefined,
  warn: 'yellow',
  error: 'red',
};

const statusStyle = (status: unknown): Style =>
  typeof status !== 'number' || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';

const duration = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

const messageOf = (level: Level, message: string): string[] => [
  ...(level === 'info' ? [] : [level.toUpperCase()]),
  message,
];

/**
 * Creates a function that formats an event for people in lines of at most 100 columns. Continuation lines are indented.
 *
 * @param show - returns a value as text without control characters
 * @param isColored - whether the time, levels and statuses have colours
 */
export const createPrettyLine = (show: (value: unknown) => string, isColored: boolean) => {
  const style = (as: Style | undefined, text: string): string =>
    // Not validated, because the stream may differ from process.stdout.
    isColored && as !== undefined ? styleText(as, text, { validateStream: false }) : text;

  const wordsOfRequest = (level: Level, fields: Fields, message: string): string[] => {
    const { method, path, status, error, durationMs, client, tokenName, requestId } = fields;
    const shown = [method ?? '-', cut(show(path ?? '-'), maxPathLength), status, error];
    const rest = [client, tokenName, requestId];
    return [
      ...shown.filter((one) => one !== undefined).map(show),
      duration(Number(durationMs)),
      ...rest.filter((one) => one !== undefined).map((one) => cut(show(one), columns / 2)),
      ...(message === 'request' ? [] : messageOf(level, message)),
    ];
  };

  return (time: string, level: Level, fields: Fields, message: string): string => {
    const { cause, ...others } = fields;
    const isRequest = typeof fields['durationMs'] === 'number';
    const words = isRequest
      ? wordsOfRequest(level, others, message)
      : [
          ...messageOf(level, message),
          ...Object.entries(others)
            .filter(([, value]) => value !== undefined)
            .map(([name, value]) => `${name}=${show(value)}`),
        ];
    const [first = '', ...more] = wrap([`${time.slice(11, 19)}Z`, ...words]);
    // A stack has one line per call.
    const lines = typeof cause === 'string' ? cause.split('\n') : [cause ?? ''];
    const below = lines.flatMap((one) => pieces(one === '' ? '' : show(one)));
    const as = levelStyles[level] ?? (isRequest ? statusStyle(fields['status']) : undefined);
    const head = style('dim', first.slice(0, 9)) + style(as, first.slice(9));
    return [head, ...more, ...below.map((one) => indent + one)].join('\n');
  };
};
