import { setTimeout as sleep } from 'node:timers/promises';
import type { FailoverLoad } from './failover-load.ts';
import { missingFrom } from './missing-plants.ts';
import { killNode } from './node-processes.ts';
import type { PatroniCluster } from './patroni-cluster.ts';
import type { Node } from './patroni-settings.ts';

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  while (!(await condition())) await sleep(200);
};

/** Numbers of acknowledged plants that are missing on the next leader. */
export type ControlResult = {
  /** Plants that were acknowledged after replication had stopped, and so exist on no standby. */
  readonly unreplicated: number;
  /** Plants that were replicated to a standby. */
  readonly replicated: number;
};

const stopReplication = async ({ sql }: PatroniCluster, leader: Node): Promise<void> => {
  // A separate transaction, so that a standby that reconnects immediately is refused.
  await sql(leader, 'ALTER ROLE replicator NOREPLICATION');
  await sql(leader, 'SELECT pg_terminate_backend(pid) FROM pg_stat_replication');
  await until(async () => (await sql(leader, 'SELECT count(*) FROM pg_stat_replication')) === '0');
};

const leaderAfter = async (cluster: PatroniCluster, lost: Node): Promise<Node> => {
  for (;;) {
    const { leader } = await cluster.roles();
    if (leader !== undefined && leader !== lost) {
      const inRecovery = await cluster.sql(leader, 'SELECT pg_is_in_recovery()').catch(() => '');
      if (inRecovery === 'f') return leader;
    }
    await sleep(200);
  }
};

/**
 * Disables synchronous replication, kills the leader after it has acknowledged at least `plants` plants that no
 * standby has, and counts the missing plants as the failover test does. Stops the load, and leaves the cluster
 * unusable.
 */
export const runNegativeControl = async (
  cluster: PatroniCluster,
  load: FailoverLoad,
  plants: number,
): Promise<ControlResult> => {
  const { leader } = await cluster.healthy();
  const replicated = [...load.acknowledged];
  await cluster.configure({
    synchronous_mode: false,
    synchronous_mode_strict: false,
    // By default, Patroni promotes no standby that is more than 1 MiB of WAL behind.
    maximum_lag_on_failover: 2 ** 40,
  });
  await until(async () => (await cluster.sql(leader, 'SHOW synchronous_standby_names')) === '');
  await stopReplication(cluster, leader);
  const start = load.acknowledged.length;
  await load.waitForAcknowledged(plants);
  await load.stop();
  const unreplicated = load.acknowledged.slice(start);
  await killNode(leader.folder);
  const next = await leaderAfter(cluster, leader);
  return {
    unreplicated: (await missingFrom(cluster, next, unreplicated)).length,
    replicated: (await missingFrom(cluster, next, replicated)).length,
  };
};
