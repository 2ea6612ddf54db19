import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beginPost } from './begin-post.ts';
import { newFolder, post, startProgram, untilLogged } from './program.ts';

const startMeasured = async (args: readonly string[]) => {
  const server = await startProgram({ args: ['--health-port', '0', '--metrics', 'on', ...args] });
  const { health } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { health: string };
  const scrape = async () => (await fetch(`${health}/metrics`)).text();
  /** The lines of a metric, without its help and type. */
  const lines = async (name: string) =>
    (await scrape()).split('\n').filter((line) => line.startsWith(`plantstore_${name}`));
  return { server, health, scrape, lines };
};

describe('the metrics of the real server', () => {
  it('the metrics count and time requests and commits, and show the state of the store', async () => {
    const path = join(await newFolder(), 'plants.db');
    const { server, lines } = await startMeasured(['--database', `sqlite:${path}`]);
    for (const id of [1, 2, 3]) await post(server.url, `{"id":${id},"name":"x"}`);
    await post(server.url, '{"id":1,"name":"y"}');
    await untilLogged(server, '"error":1401');
    expect(await lines('requests_total')).toEqual([
      'plantstore_requests_total{status="200",error="none"} 3',
      'plantstore_requests_total{status="400",error="1401"} 1',
    ]);
    expect(await lines('request_duration_seconds_count')).toEqual([
      'plantstore_request_duration_seconds_count 4',
    ]);
    const [sum] = await lines('request_duration_seconds_sum');
    const loggedMs = [...server.stdout().matchAll(/"durationMs":([\d.]+)/g)].map(([, ms]) =>
      Number(ms),
    );
    expect(Number(sum?.split(' ')[1])).toBeCloseTo(
      loggedMs.reduce((total, ms) => total + ms, 0) / 1_000,
      6,
    );
    expect(await lines('commit_plants_sum')).toEqual(['plantstore_commit_plants_sum 4']);
    expect(await lines('commit_duration_seconds_count')).toEqual([
      'plantstore_commit_duration_seconds_count 4',
    ]);
    // The check of the store has a time limit of a second.
    await expect.poll(async () => lines('store_up')).toEqual(['plantstore_store_up 1']);
    expect(await lines('plants_waiting')).toEqual(['plantstore_plants_waiting 0']);
    expect((await lines('sqlite_wal_bytes'))[0]).toMatch(/^plantstore_sqlite_wal_bytes \d{4,}$/);
    expect((await lines('build_info'))[0]).toMatch(
      /\{version="\d+\.\d+\.\d+.*",node="v.+",database="sqlite"\} 1$/,
    );
    await rm(path);
    expect(await lines('store_up')).toEqual(['plantstore_store_up 0']);
  });

  it('the metrics show the requests in flight and the connections', async () => {
    const { server, lines } = await startMeasured(['--max-in-flight', '7']);
    const inFlight = await beginPost(server, '{"id":7,"name":"x"}');
    expect(await lines('requests_in_flight')).toEqual([
      'plantstore_requests_in_flight 1',
      'plantstore_requests_in_flight_limit 7',
    ]);
    expect((await lines('connections'))[0]).toBe('plantstore_connections 1');
    expect(await inFlight.status()).toBe(200);
    expect((await lines('requests_in_flight'))[0]).toBe('plantstore_requests_in_flight 0');
  });
});
