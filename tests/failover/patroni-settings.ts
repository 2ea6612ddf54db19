import { dirname } from 'node:path';
import type { Programs } from './debian-programs.ts';

/** A member of the cluster: its folder and ports. */
export type Node = {
  readonly name: string;
  readonly folder: string;
  readonly postgresPort: number;
  readonly patroniPort: number;
};

/** Generated passwords of the roles. */
export type Passwords = { readonly postgres: string; readonly replicator: string };

/** Settings of the cluster, which its first member writes to etcd. */
const shared = {
  // The shortest value that newer versions of Patroni accept. A failed leader is replaced when its key expires.
  ttl: 20,
  loop_wait: 1,
  retry_timeout: 3,
  synchronous_mode: true,
  // Without it, a leader without standbys, for example after a promotion, commits alone: if that machine is lost,
  // acknowledged plants are lost. With it, such a leader waits for a standby.
  synchronous_mode_strict: true,
  postgresql: {
    use_pg_rewind: true,
    parameters: {
      max_connections: 100,
      shared_buffers: '32MB',
      // Time that a standby that hangs can delay commits, before another one replaces it.
      wal_sender_timeout: '5s',
      wal_receiver_timeout: '5s',
      // Time after which a standby that found no leader retries.
      wal_retrieve_retry_interval: '1s',
    },
  },
};

/** A member's configuration; JSON is YAML. */
export const settingsOf = (
  { name, folder, postgresPort, patroniPort }: Node,
  etcdPort: number,
  passwords: Passwords,
  { postgres }: Programs,
): string => {
  const http = `127.0.0.1:${patroniPort}`;
  const sql = `127.0.0.1:${postgresPort}`;
  return JSON.stringify({
    scope: 'plantstore',
    name,
    restapi: { listen: http, connect_address: http },
    // With version 3 of etcd's API, Patroni 3.0.2 of Debian 12 overwrites the leader key: a suspended leader becomes
    // leader again when it is resumed, and the plants of its successor are lost
    // (github.com/patroni/patroni/pull/2689). With version 2, it only renews its own key.
    etcd: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: { dcs: shared, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }] },
    postgresql: {
      listen: sql,
      connect_address: sql,
      data_dir: `${folder}/data`,
      bin_dir: dirname(postgres),
      pgpass: `${folder}/pgpass`,
      parameters: { unix_socket_directories: folder },
      basebackup: [{ checkpoint: 'fast' }],
      authentication: {
        superuser: { username: 'postgres', password: passwords.postgres },
        replication: { username: 'replicator', password: passwords.replicator },
      },
      pg_hba: [
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
      ],
    },
  });
};
