import type { CommandStreams } from './command.ts';

/** A line on a terminal that is written again and again. On anything but a terminal it is not written. */
export type Progress = {
  readonly show: (text: () => string) => void;
  /** Writes a line that stays. */
  readonly say: (line: string) => void;
  readonly clear: () => void;
};

const intervalMs = 100;
const clearLine = '\r\u001b[K';

export const createProgress = ({ stderr }: Pick<CommandStreams, 'stderr'>): Progress => {
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
      stderr.write(`${clearLine}${text()}`);
    },
    say(line) {
      clear();
      stderr.write(`${line}\n`);
    },
    clear,
  };
};

/** A part of a whole in percent, for a progress line. */
export const percent = (part: number, whole: number): string =>
  whole > 0 ? `${Math.min(100, Math.floor((100 * part) / whole))} %` : '';

/** "1 plant", "2 plants". */
export const plantsIn = (count: number): string => `${count} ${count === 1 ? 'plant' : 'plants'}`;
