import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Logger } from '@plantstore/server';
import { logOutputOf } from './log-output.ts';
import { createPrettyLine, type Fields, type Level } from './pretty-line.ts';

/** One JSON object per line for programs, or one line per event for people. */
export type LogFormat = 'json' | 'pretty';

/** A logger whose lines of one turn of the event loop share a write. */
export type Log = Logger & {
  readonly flush: () => void;
  /**
   * Writes the buffered lines and the number of missing ones, and waits until a slow reader has received them, for at most
   * `maxMs` milliseconds. Call it before the process exits, which does not wait.
   */
  readonly end: (maxMs: number) => Promise<void>;
};

/** A buffered line, and how many lines are missing if it is not written. */
type Line = { readonly text: string; readonly missing: number };

/** Maximum size of buffered lines, in bytes; further lines are dropped. */
const maxBufferedBytes = 8 * 1024 * 1024;

const linesAreMissing =
  'lines of the log are missing: they could not be written, or the reader was too slow';

/**
 * Creates a log that writes a line for each event. If lines cannot be written, because the reader is too slow
 * or the disk is full, it drops them, and logs their number with the next line that can be written.
 *
 * @param isColored - whether lines for people have colours
 */
export function createLog(format: LogFormat, stream: Writable, isColored = false): Log {
  const textOf = format === 'json' ? jsonLine : createPrettyLine(prettyValue, isColored);
  const output = logOutputOf(stream);
  let buffered: Line[] = [];
  let bufferedLength = 0;
  let dropped = 0;
  let lineEnd = '';
  const flush = () => {
    const lines = [{ text: lineEnd, missing: 0 }, ...buffered];
    buffered = [];
    bufferedLength = 0;
    lineEnd = '';
    output.write(lines.map(({ text }) => text).join(''), (written) => {
      const loss = lossOf(lines, written);
      dropped += loss.missing;
      ({ lineEnd } = loss);
    });
  };
  const append = (level: Level, fields: Fields, message: string, missing: number) => {
    if (buffered.length === 0) setImmediate(flush);
    const text = `${textOf(isoTime(), level, fields, message)}\n`;
    buffered.push({ text, missing });
    bufferedLength += text.length;
  };
  const appendMissing = () => {
    if (dropped > 0) append('warn', { dropped }, linesAreMissing, dropped);
    dropped = 0;
  };
  const write = (level: Level) => (fields: Fields, message: string) => {
    if (output.waiting() + bufferedLength > maxBufferedBytes) {
      dropped += 1;
      return;
    }
    appendMissing();
    append(level, fields, message, 1);
  };
  const writeAll = async () => {
    flush();
    appendMissing();
    flush();
    await output.written();
  };
  const end = async (maxMs: number) => {
    const written = new AbortController();
    const timeout = sleep(maxMs, undefined, written).catch(() => {});
    await Promise.race([writeAll(), timeout]);
    written.abort();
  };
  return { info: write('info'), warn: write('warn'), error: write('error'), flush, end };
}

let isoMs = 0;
let isoText = '';

/** Returns the time in ISO 8601. Lines of one millisecond share the text, because formatting it is slow. */
function isoTime(): string {
  const now = Date.now();
  if (now !== isoMs) isoText = new Date(now).toISOString();
  isoMs = now;
  return isoText;
}

function jsonLine(time: string, level: Level, fields: Fields, message: string): string {
  const line = { time, level, message, ...fields };
  return toJson(line, () => ({ time, level, message, unprintable: inspect(fields) }));
}

function prettyValue(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:%+-]+$/.test(value)) return value;
  return toJson({ value }, () => ({ value: inspect(value) })).slice('{"value":'.length, -1);
}

/** Characters that JSON does not escape, but that end a line or control a terminal. */
const otherControls = /[\u007f-\u009f\u2028\u2029]/g;

/** Returns an object as JSON without control characters, or another one if it cannot be written, such as for a circular cause. */
function toJson(fields: Fields, unprintable: () => Fields): string {
  // Most values are numbers and text, which need no replacer.
  const isPlain = Object.values(fields).every(
    (one) => typeof one !== 'object' && typeof one !== 'bigint',
  );
  let text;
  try {
    text = JSON.stringify(fields, isPlain ? undefined : toText);
  } catch {
    text = JSON.stringify(unprintable());
  }
  return text.replace(
    otherControls,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function toText(_key: string, value: unknown): unknown {
  if (value instanceof Error) return inspect(value);
  return typeof value === 'bigint' ? String(value) : value;
}

/**
 * Returns how many lines are missing after a write of these lines that failed, and what ends the last one if
 * only a part of it was written. A number of written bytes that is not known is -1.
 */
function lossOf(lines: readonly Line[], written: number) {
  let end = 0;
  let missing = 0;
  let lineEnd = '\n';
  for (const line of lines) {
    end += Buffer.byteLength(line.text);
    if (end === written) lineEnd = '';
    if (end > written) missing += line.missing;
  }
  return { missing, lineEnd };
}
