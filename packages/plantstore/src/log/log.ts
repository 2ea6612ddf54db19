import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Logger } from '@plantstore/server';
import { toJson } from './json.ts';
import { createPrettyLine, type Fields, type Level } from './pretty-line.ts';

/**
 * Creates a log that writes a line for each event. What it buffers for a slow reader is bounded:
 * above that, and while a disk is full, it drops lines, and logs their number with the next line
 * or flush that can be written.
 *
 * @param isColored - whether lines for people have colours
 */
export function createLog(format: LogFormat, stream: Writable, isColored = false): Log {
  const lineOf = format === 'json' ? toJson : createPrettyLine(isColored);
  let lines: Line[] = [];
  let size = 0;
  let missing = 0;
  let hasHalfLine = false;
  return { info: write('info'), warn: write('warn'), error: write('error'), flush };

  function write(level: Level) {
    return (fields: Fields, message: string): void => {
      if (stream.writableLength + size > maxBufferedBytes) missing += 1;
      else {
        addMissing();
        add(level, fields, message, 1);
      }
    };
  }

  function addMissing(): void {
    const dropped = missing;
    missing = 0;
    if (dropped > 0) add('warn', { dropped }, linesAreMissing, dropped);
  }

  function add(level: Level, fields: Fields, message: string, count: number): void {
    if (lines.length === 0) setImmediate(writeLines);
    const text = `${lineOf({ time: new Date().toISOString(), level, message, ...fields })}\n`;
    lines.push({ text, count });
    size += text.length;
  }

  function flush(): void {
    writeLines();
    addMissing();
    writeLines();
  }

  function writeLines(): void {
    const batch = lines;
    lines = [];
    size = 0;
    const bytes = Buffer.from((hasHalfLine ? '\n' : '') + batch.map(({ text }) => text).join(''));
    const written = writeBytes(stream, bytes, () => {
      for (const { count } of batch) missing += count;
    });
    let end = hasHalfLine ? 1 : 0;
    for (const { text, count } of batch) {
      end += Buffer.byteLength(text);
      // The next write completes a line that lacks only its line feed.
      if (end - 1 > written) missing += count;
    }
    if (written > 0) hasHalfLine = bytes[written - 1] !== lineFeed;
  }
}

/** One JSON object per line for programs, or one line per event for people. */
export type LogFormat = 'json' | 'pretty';

/** A logger whose lines of one turn of the event loop share a write, which `flush` does now. */
export type Log = Logger & { readonly flush: () => void };

/** A buffered line, and how many are missing if it is not written. */
type Line = { readonly text: string; readonly count: number };

/** Maximum size of what waits to be written. */
const maxBufferedBytes = 8 * 2 ** 20;

const linesAreMissing =
  'lines of the log are missing: they could not be written, or the reader was too slow';

const lineFeed = 0x0a;

/**
 * Writes, and returns how many bytes are written or buffered; calls `onLost` if those are lost
 * later. Writes directly to a file: its stream ends at the first error, and does not report that
 * only a part was written.
 */
function writeBytes(
  stream: Writable & { readonly fd?: unknown },
  bytes: Buffer,
  onLost: () => void,
): number {
  const { fd } = stream;
  if (typeof fd === 'number' && !(stream instanceof Socket)) {
    try {
      return writeSync(fd, bytes);
    } catch {
      return 0;
    }
  }
  if (bytes.length > 0) stream.write(bytes, (error) => error && onLost());
  return bytes.length;
}
