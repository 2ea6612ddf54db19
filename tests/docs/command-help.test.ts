import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { commands, runCommand } from '../../packages/plantstore/src/commands/run-command.ts';
import { read } from './pages.ts';

const section = read('docs/program.md').split('\n## Commands\n')[1]!.split('\n## ')[0]!;

/** The commands of the page with their arguments, such as `import [FROM]`. */
const documented = [...section.matchAll(/^- `([a-z].*?)`/gm)].map(([, command]) => command!);

/** The options of the page, and the commands that have them. */
const options = [...section.matchAll(/^\| `(--.*?)` +\| (.*?) +\|/gm)].map(
  ([, option = '', of = '']) => ({ option: option.replaceAll('\\', ''), of }),
);

/** The exit statuses of the page, each with the command that it is limited to, if any. */
const statuses = [...section.matchAll(/^- `(\d)`: (?:`(\w+)`)?/gm)].map(([, status = '', of]) => ({
  status,
  of,
}));

it('the page of the program lists every command', () => {
  expect(documented.map((command) => command.split(' ')[0])).toEqual(Object.keys(commands));
});

it.each(documented)(
  'the help of %s has the argument, the options and the exit statuses of the page',
  async (command) => {
    const [name = ''] = command.split(' ');
    const stdout = new PassThrough({ encoding: 'utf8' });
    const stdin = () => new PassThrough();
    await runCommand([name, '--help'], {}, { stdin, stdout, stderr: new PassThrough() });
    const help = String(stdout.read());
    expect(help).toContain(`Usage: plantstore ${command} [options]\n`);
    const flags = [...help.matchAll(/^ {2}(--.*)$/gm)].map(([, flag]) => flag);
    const ofCommand = options.filter(({ of }) => of === 'all' || of.includes(`\`${name}\``));
    expect(flags).toEqual(ofCommand.map(({ option }) => option));
    const ofAny = statuses.filter(({ of = name }) => of === name);
    const named = help.split('Exit status: ')[1]?.match(/\d/g);
    expect(named).toEqual(ofAny.map(({ status }) => status));
  },
);
