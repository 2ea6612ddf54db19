import { setTimeout as sleep } from 'node:timers/promises';
import type { FailoverLoad } from './failover-load.ts';
import { suspendNode, killNode, processesOf, signal } from './node-processes.ts';
import type { PatroniCluster } from './patroni-cluster.ts';
import type { Node } from './patroni-settings.ts';

/** A healthy cluster under load. */
export type Situation = {
  readonly cluster: PatroniCluster;
  readonly leader: Node;
  readonly synchronous: Node;
  readonly load: FailoverLoad;
  /** Starts load through a process that connects only to this server. */
  readonly loadOn: (node: Node) => Promise<FailoverLoad>;
  readonly log: (text: string) => void;
};

/** A failure of the leader. */
export type Scenario = {
  readonly name: string;
  /** Causes the failure, and returns a function that repairs the cluster. */
  readonly lose: (situation: Situation) => Promise<() => Promise<void>>;
};

const killed: Scenario = {
  name: '(a) leader killed',
  async lose({ cluster, leader }) {
    await killNode(leader.folder);
    return async () => cluster.start(leader);
  },
};

const withoutPatroniMs = 3_000;

const suspended: Scenario = {
  name: '(b) leader suspended, and resumed under load',
  async lose({ leader, loadOn, log }) {
    // This load is connected to the old leader alone, and retries while it is suspended.
    const oldLeaderLoad = await loadOn(leader);
    await oldLeaderLoad.waitForAcknowledged(20);
    await suspendNode(leader.folder);
    return async () => {
      log(`resuming ${leader.name}`);
      oldLeaderLoad.takeFigures();
      // PostgreSQL resumes as a leader. Patroni, which demotes it, resumes later.
      const processes = await processesOf(leader.folder);
      const isPatroni = ({ args }: { args: string }) => args.includes('/patroni.json');
      signal(
        processes.filter((one) => !isPatroni(one)),
        'SIGCONT',
      );
      await sleep(withoutPatroniMs);
      signal(processes, 'SIGCONT');
      await sleep(withoutPatroniMs);
      await oldLeaderLoad.stop();
      const { acknowledged } = oldLeaderLoad.takeFigures();
      log(
        `the resumed old leader acknowledged ${acknowledged} plants to a process that connects to it alone`,
      );
    };
  },
};

const noCommitMs = 1_500;

const receiverSuspended: Scenario = {
  name: '(c) WAL receiver of the standby suspended, then the leader killed',
  async lose({ cluster, leader, synchronous, load, log }) {
    const receivers = (await processesOf(synchronous.folder)).filter(({ args }) =>
      args.includes('walreceiver'),
    );
    if (receivers.length !== 1) throw new Error(`${synchronous.name} has no WAL receiver`);
    signal(receivers, 'SIGSTOP');
    // No standby confirms commits now, so any plant that is acknowledged would be lost.
    while (load.outageMs() < noCommitMs) await sleep(50);
    await killNode(leader.folder);
    log(
      `killed ${leader.name} while creates waited for the suspended WAL receiver of ${synchronous.name}`,
    );
    while ([undefined, leader].includes((await cluster.roles()).leader)) await sleep(200);
    // A promotion waits until the WAL receiver has ended.
    signal(receivers, 'SIGCONT');
    return async () => cluster.start(leader);
  },
};

/** The failures, which are caused one after another on one cluster. */
export const scenarios: readonly Scenario[] = [killed, suspended, receiverSuspended];
