import { styleText } from 'node:util';
import type { Logger } from '@plantstore/server';
import { toJson } from './json.ts';

/** Creates a function that formats an event for people in one line; the lines of a cause follow. */
export function createPrettyLine(isColored: boolean) {
  return ({ time, level, message, cause, ...fields }: Fields): string => {
    const isRequest = typeof fields['durationMs'] === 'number';
    const title = `${level === 'info' ? '' : `${String(level).toUpperCase()} `}${String(message)}`;
    const text = isRequest ? requestText(fields, title) : `${title}${namedText(fields)}`;
    const below = typeof cause === 'string' ? cause.split('\n') : [cause];
    const causes = cause === undefined ? [] : below.map((one) => (one === '' ? '' : show(one)));
    const clock = style('dim', `${String(time).slice(11, 19)}Z`);
    return [`${clock} ${style(colorOf(level, fields), text)}`, ...causes].join('\n  ');
  };

  function style(as: Parameters<typeof styleText>[0] | undefined, text: string): string {
    // Not validated, because the stream may differ from process.stdout.
    return isColored && as ? styleText(as, text, { validateStream: false }) : text;
  }
}

export type Level = keyof Logger;
export type Fields = Readonly<Record<string, unknown>>;

function namedText(fields: Fields): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => ` ${name}=${show(value)}`).join('');
}

/** Returns a request in a line; what a client chooses is shortened. */
function requestText({ method = '-', path = '-', ...fields }: Fields, title: string): string {
  const ms = Number(fields['durationMs']);
  const time = `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const shown = (...names: readonly string[]) =>
    names.flatMap((name) => (fields[name] === undefined ? [] : [cut(show(fields[name]), 50)]));
  const words = [show(method), cut(show(path), 40), ...shown('status', 'error'), time];
  words.push(...shown('client', 'tokenName', 'requestId'), ...(title === 'request' ? [] : [title]));
  return words.join(' ');
}

function show(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:%+-]+$/.test(value)) return value;
  return toJson({ value }).slice('{"value":'.length, -1);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function colorOf(level: unknown, { status, durationMs }: Fields) {
  if (level !== 'info') return level === 'warn' ? 'yellow' : 'red';
  if (durationMs === undefined) return undefined;
  return typeof status !== 'number' || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
}
