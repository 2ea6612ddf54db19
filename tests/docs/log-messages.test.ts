import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { read, root } from './pages.ts';

/** The sources of the packages, with `…` for each value of a template. */
const source = globSync('packages/*/src/**/*.ts', {
  cwd: root,
  // The client does not log.
  exclude: ['**/*.test.ts', '**/*.test-d.ts', 'packages/client/**'],
})
  .map((file) => read(file).replaceAll(/\$\{[^}]*\}/g, '…'))
  .join('\n');

/** The messages in the first cells of the table, in code spans. */
const documented = read('docs/operating.md')
  .split('## Errors in the log')[1]!
  .split('\n')
  .filter((line) => /^\| (?:`|the same)/.test(line))
  .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!));

const constants = new Map(
  [...source.matchAll(/const (\w+) =\s*'([^']*)'/g)].map(([, name, text]) => [name, text]),
);

/** The messages of the lines with level `warn` and `error`. */
const logged = [
  ...source.matchAll(
    /(?:(?:log|logger)\.(?:warn|error)\(\s*|append\('(?:warn|error)', )(?:\{.*?\}|\w+),\s*(?:'([^']*)'|(\w+))/g,
  ),
].flatMap(([, text, name]) => text ?? constants.get(name) ?? []);

/** Returns the members of a type of the events of a request. */
const membersOf = (type: string): string[] =>
  read('packages/server/src/http/request-record.ts')
    .split(`export type ${type} = `)[1]!
    .split('\n};')[0]!
    .split('\n')
    .flatMap((line) => /^ {2}readonly (\w+)/.exec(line)?.[1] ?? []);

it('the list of the fields of a request in the log is complete', () => {
  const listed = [
    ...read('docs/observability.md')
      .split('The line of a request')[1]!
      .split('Its `message`')[0]!
      .matchAll(/^- `(\w+)`/gm),
  ].map(([, field]) => field);
  // `request` is spread into the line, and `isWritten` selects its message.
  const ofEvents = ['request', 'isWritten'];
  const fields = [...membersOf('RequestInfo'), ...membersOf('RequestEndEvent'), 'code', 'cause'];
  expect(listed, 'docs/observability.md').toEqual(
    fields.filter((field) => !ofEvents.includes(field)),
  );
});

it('the table of errors in the log contains only messages that the code logs', () => {
  expect(documented.length).toBeGreaterThan(20);
  expect(documented.filter((text) => !source.includes(text))).toEqual([]);
});

it('the table of errors in the log contains every message with level warn or error', () => {
  expect(logged.length).toBeGreaterThan(10);
  const isDocumented = (message: string) => documented.some((text) => message.startsWith(text));
  expect(logged.filter((message) => !isDocumented(message))).toEqual([]);
});
