import { escapeUnprintable } from '../settings/text.ts';
import { writeLine } from '../settings/write-messages.ts';
import type { CommandStreams } from './command.ts';

export function createProgress({ stderr }: Pick<CommandStreams, 'stderr'>): Progress {
  let shownAt = -Infinity;
  let isShown = false;
  const clear = () => {
    if (isShown) stderr.write(clearLine);
    isShown = false;
  };
  return {
    show(text) {
      if (stderr.isTTY !== true || performance.now() - shownAt < intervalMs) return;
      shownAt = performance.now();
      isShown = true;
      stderr.write(clearLine + escapeUnprintable(text()));
    },
    writeLine(line) {
      clear();
      writeLine(stderr, line);
    },
    clear,
  };
}

/** A progress line that is updated in place. It is written to a terminal only. */
export type Progress = {
  readonly show: (text: () => string) => void;
  /** Writes a permanent line. */
  readonly writeLine: (line: string) => void;
  readonly clear: () => void;
};

const intervalMs = 100;
const clearLine = '\r\u001b[K';

/** Returns a count with its noun: "1 plant", "2 plants". */
export function plantCount(count: number): string {
  return `${count} ${count === 1 ? 'plant' : 'plants'}`;
}
