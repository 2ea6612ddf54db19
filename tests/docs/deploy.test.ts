import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorTable } from '@plantstore/core/errors';
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

it.each([
  ['deploy/nginx.conf', 'body-too-large'],
  ['deploy/nginx.conf', 'unavailable'],
  ['deploy/Caddyfile', 'unavailable'],
] as const)('%s responds with the body of %s', (file, name) => {
  const body = JSON.stringify({ error: errorTable[name].error, message: errorTable[name].message });
  expect(readFileSync(join(root, file), 'utf8')).toContain(body);
});

type Panel = {
  readonly id: number;
  readonly type: string;
  readonly datasource: { readonly uid: string };
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
};

const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana-dashboard.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};

it('the dashboard has panels that Grafana can place, with variables that it has', () => {
  const { panels, templating } = dashboard;
  expect(dashboard).toMatchObject({ title: 'Plantstore', schemaVersion: 39, refresh: '30s' });
  expect(dashboard).not.toHaveProperty('id');
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const known = new Set(['__rate_interval', ...templating.list.map(({ name }) => name)]);
  for (const { type, gridPos, datasource, targets } of panels) {
    expect(['stat', 'timeseries']).toContain(type);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    expect(datasource.uid).toBe(`$\{datasource}`);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    const used = targets.flatMap(({ expr }) => expr.match(/(?<=\$)\w+/g) ?? []);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  }
  const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  expect(new Set(places).size).toBe(places.length);
});
