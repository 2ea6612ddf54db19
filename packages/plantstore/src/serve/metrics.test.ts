import * as prometheus from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { createMetrics } from './metrics.ts';

it('the duration of a commit is in seconds, as in the name of its metric and in the alerts', async () => {
  const metrics = createMetrics(prometheus, async () => Promise.resolve(true));
  onTestFinished(metrics.stop);
  metrics.onCommit({ plants: 3, durationMs: 250 });
  expect((await metrics.read()).split('\n')).toEqual(
    expect.arrayContaining([
      'plantstore_commit_duration_seconds_sum 0.25',
      'plantstore_commit_duration_seconds_bucket{le="0.1"} 0',
      'plantstore_commit_duration_seconds_bucket{le="0.25"} 1',
      'plantstore_commit_plants_sum 3',
    ]),
  );
});
