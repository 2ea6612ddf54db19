import { execFileSync } from 'node:child_process';
import { root } from './executed.ts';

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: Infinity }).trim();

/** Returns the commit where HEAD left `origin/main`; the parent of HEAD if it has not left it, or if there is no origin. */
export const defaultCommit = (): string => {
  try {
    const base = git('merge-base', 'HEAD', 'origin/main');
    if (base !== git('rev-parse', 'HEAD')) return base;
  } catch {
    // A clone can have no origin.
  }
  return 'HEAD~1';
};

/** Returns a function that reports whether lines of a file differ from a commit, committed or not. */
export const changedLinesSince = (
  commit: string,
): ((file: string, first: number, last: number) => boolean) => {
  const ranges = new Map<string, [first: number, last: number][]>();
  for (const file of git('ls-files', '--others', '--exclude-standard').split('\n'))
    ranges.set(file, [[1, Infinity]]);
  let current: [number, number][] = [];
  for (const line of git('diff', '--unified=0', '--no-ext-diff', '--no-prefix', commit).split(
    '\n',
  )) {
    const [, file] = /^\+\+\+ (.*)$/.exec(line) ?? [];
    if (file !== undefined) ranges.set(file, (current = []));
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (first !== undefined) current.push([Number(first), Number(first) + Number(count) - 1]);
  }
  return (file, first, last) =>
    (ranges.get(file) ?? []).some(([start, end]) => start <= last && first <= end);
};
