import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bin } from '../black-box/program.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/program.md'), 'utf8');
const section = page.split('\n## Commands\n')[1]?.split('\n## ')[0] ?? '';

/** The commands of the page with their arguments, such as `import [FROM]`. */
const commands = [...section.matchAll(/^- `(.*?)`/gm)]
  .map(([, command = '']) => command)
  .filter((command) => /^[a-z]/.test(command));

/** The options of the page, and the commands that have them. */
const options = [...section.matchAll(/^\| `(--.*?)` +\| (.*?) +\|/gm)].map(
  ([, option = '', of = '']) => ({ option: option.replaceAll('\\', ''), of }),
);

const helpOf = (...args: readonly string[]) =>
  execFileSync(process.execPath, [bin, ...args, '--help'], { encoding: 'utf8' });

describe('the help of the commands', () => {
  it('the page lists the commands of the help', () => {
    const [, list = ''] = /^Commands:\n((?: {2}.*\n)*)/m.exec(helpOf()) ?? [];
    const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
    const documented = commands.map((command) => command.split(' ')[0]);
    expect(new Set(documented)).toEqual(new Set(names));
  });

  it.each(commands)('the help of %s has the argument and the options of the page', (command) => {
    const [name = ''] = command.split(' ');
    const help = helpOf(name);
    expect(help).toContain(`Usage: plantstore ${command} [options]\n`);
    const flags = [...help.matchAll(/^ {2}(--.*)$/gm)].map(([, flag]) => flag);
    const documented = options.filter(({ of }) => of === 'all' || of.includes(`\`${name}\``));
    expect(flags).toEqual(documented.map(({ option }) => option));
  });
});
