import type { Plant } from './failover-load.ts';
import type { PatroniCluster } from './patroni-cluster.ts';
import type { Node } from './patroni-settings.ts';

/** Name of the database. */
export const database = 'garden';

/** Returns the plants that are missing on a leader or have other content there. */
export const missingFrom = async (
  { sql }: PatroniCluster,
  leader: Node,
  plants: readonly Plant[],
): Promise<Plant[]> => {
  const statement = 'SELECT json_build_array(id::text, name, tag) FROM plants';
  const rows = await sql(leader, `${statement} WHERE NOT pg_is_in_recovery()`, database);
  const found = new Set(rows.split('\n').map((row) => JSON.stringify(JSON.parse(row || '[]'))));
  return plants.filter(
    ({ id, name, tag }) => !found.has(JSON.stringify([String(id), name, tag ?? null])),
  );
};
