import type { Plant } from './failover-load.ts';
import type { PatroniCluster } from './patroni-cluster.ts';
import type { Node } from './patroni-settings.ts';

/** The name of the database that has the plants. */
export const database = 'garden';

/** Returns the plants that a leader does not have, or has with other content. */
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
