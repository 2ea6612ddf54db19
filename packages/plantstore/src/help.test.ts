import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { commands } from './commands/run-command.ts';
import { main } from './main.ts';
import { flagOf, type SettingName, settingNames, variableOf } from './settings/setting-table.ts';

const helpOf = async (...argv: string[]): Promise<string> => {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const stderr = new PassThrough();
  const signals = new EventEmitter();
  const stdin = () => new PassThrough();
  const outside = { env: {}, stdin, stdout, stderr, signals, endAtOnce() {} };
  const status = await main({ argv: [...argv, '--help'], ...outside });
  expect(status).toBe(0);
  return String(stdout.read());
};

const names = Object.keys(commands);

it.each<[string, string[]]>([
  ['the program', []],
  ...names.map((name): [string, string[]] => [`the command ${name}`, [name]]),
])('the help of %s has lines of at most 80 columns', async (_, argv) => {
  const lines = (await helpOf(...argv)).split('\n');
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => line.length > 80 || line !== line.trimEnd())).toEqual([]);
});

it('the help describes each command in a line', async () => {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n)*)/m.exec(await helpOf()) ?? [];
  const named = list
    .trimEnd()
    .split('\n')
    .map((line) => /^ {2}(\w+) +\w/.exec(line)?.[1]);
  expect(named).toEqual(names);
});

it('the help of the program names the variable of each setting, after its flag if it has one', async () => {
  const help = await helpOf();
  const isNamed = (name: SettingName) => {
    const [flag, variable] = [flagOf(name), variableOf(name)];
    return help.includes(flag === undefined ? `\n  ${variable}\n` : `      ${variable}; default: `);
  };
  expect(settingNames.filter((name) => !isNamed(name))).toEqual([]);
});
