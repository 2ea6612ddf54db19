import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { settingNames, variableOf } from '../../packages/plantstore/src/settings/setting-table.ts';
import { pages, read } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = globSync(['deploy/**/*', 'docs/operating.md'], { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
  .toSorted();

const variables = new Set(settingNames.map(variableOf));

it.each(files)('%s sets only variables that the server reads', (file) => {
  const named = readFileSync(join(root, file), 'utf8').match(/PLANTSTORE_\w+/g) ?? [];
  expect(named.filter((name) => !variables.has(name))).toEqual([]);
});

it('the pages stop and start plantstore.service together with its socket, which else starts it again', () => {
  const commands = pages.flatMap(
    (page) => read(page).match(/systemctl (stop|start|disable|mask|kill) [^\n`]*/g) ?? [],
  );
  const ofService = commands.filter((one) => / plantstore(?![-.@\w])/.test(one));
  expect(ofService.length).toBeGreaterThan(5);
  expect(ofService.filter((one) => !one.includes(' plantstore.socket '))).toEqual([]);
});

type Dashboard = {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
};

it('the dashboard shows every metric of its page', () => {
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as Dashboard;
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
  const metrics = read('docs/observability.md').match(/(?<=`)plantstore_[a-z_]+(?=`)/g) ?? [];
  expect(metrics).toContain('plantstore_store_up');
  expect(metrics.filter((name) => !queries.includes(name))).toEqual([]);
});
