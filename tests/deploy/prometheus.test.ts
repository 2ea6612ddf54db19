import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requires } from '@plantstore/test-support/requires';
import { describe, expect, it } from 'vitest';
import { newFolder, post, startProgram } from '../black-box/program.ts';

const deployFile = (name: string) =>
  fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));

const promtool = (args: readonly string[], input = '') =>
  execFileSync('promtool', args, { input, encoding: 'utf8' });

const isInstalled = spawnSync('promtool', ['--version']).error === undefined;

describe('promtool accepts', requires(isInstalled, 'promtool is not installed'), () => {
  it('promtool accepts the metrics of the server, without a remark, and they are all that the dashboard and the alerts query', async () => {
    const path = join(await newFolder(), 'plants.db');
    const args = ['--database', `sqlite:${path}`, '--health-port', '0', '--metrics', 'on'];
    const server = await startProgram({ args });
    const { health } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { health: string };
    await post(server.url, '{"id":7,"name":"Monstera"}');
    const metrics = await (await fetch(`${health}/metrics`)).text();
    expect(promtool(['check', 'metrics'], metrics)).toBe('');
    const names = new Set([...metrics.matchAll(/^[a-z_]+/gm)].map(([name]) => name));
    for (const file of ['grafana-dashboard.json', 'prometheus-rules.yml']) {
      const text = readFileSync(deployFile(file), 'utf8');
      const asked = text.match(/\b(?:plantstore|process|nodejs)_[a-z_]+\b/g) ?? [];
      expect(asked.length).toBeGreaterThan(5);
      expect(asked.filter((name) => !names.has(name))).toEqual([]);
    }
  });

  it('promtool accepts the alerts, and the queries of the dashboard', async () => {
    const { panels } = JSON.parse(readFileSync(deployFile('grafana-dashboard.json'), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = queries.map((query, index) => ({
      record: `query${index}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const file = join(await newFolder(), 'rules.yml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    for (const one of [file, deployFile('prometheus-rules.yml')])
      expect(promtool(['check', 'rules', one])).toContain('SUCCESS');
  });
});
