import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createProgress } from './progress.ts';

const write = (isTTY: boolean): string => {
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY });
  const progress = createProgress({ stderr });
  progress.show(() => '10 plants');
  // Not shown, because it follows at once.
  progress.show(() => '11 plants');
  progress.writeLine('line 7: refused');
  progress.clear();
  return String(stderr.read() ?? '');
};

it('a command writes a progress line to a terminal, and clears it before other lines', () => {
  expect(write(true)).toBe('\r\u001b[K10 plants\r\u001b[Kline 7: refused\n');
});

it('a command escapes what others put into its lines', () => {
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const progress = createProgress({ stderr });
  progress.show(() => 'plants in "\u001b[2J"');
  progress.writeLine('line 7: refused: \u202e\n');
  expect(stderr.read()).toBe(
    '\r\u001b[Kplants in "\\u001b[2J"\r\u001b[Kline 7: refused: \\u202e\\u000a\n',
  );
});

it('a command writes no progress line to a file or a pipe', () => {
  expect(write(false)).toBe('line 7: refused\n');
});
