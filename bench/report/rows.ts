// The servers under one another, in their groups: what the plots of them share.
import type { ContenderResult, Group, Servers } from '../results.ts';
import { element, groupNames, words } from './svg.ts';

/** A server, or the baseline, as it is drawn. */
export type DrawnServer = Pick<ContenderResult, 'name' | 'group' | 'throughput' | 'latencyMs'>;

/** A row's middle, and what is in it. */
export type Row = { readonly y: number; readonly server: DrawnServer };

export const width = 880;
export const left = 296;
export const right = 780;

const rowHeight = 22;
const headHeight = 28;

const one = { median: 1, least: 1, most: 1 };

/** The servers with the baseline as the first of them. */
const drawnServers = ({ baseline, contenders }: Servers): readonly DrawnServer[] => [
  { name: baseline.name, group: 'limit', throughput: one, latencyMs: baseline.latencyMs },
  ...contenders,
];

/** Places the servers that are wanted below a height, with their names. */
export const placeRows = (
  servers: Servers,
  top: number,
  isWanted: (server: DrawnServer) => boolean = () => true,
): {
  readonly rows: readonly Row[];
  readonly names: readonly string[];
  readonly bottom: number;
} => {
  const rows: Row[] = [];
  const names: string[] = [];
  let y = top;
  for (const group of ['limit', 'ours', 'peer'] as const satisfies readonly Group[]) {
    const inGroup = drawnServers(servers).filter((row) => row.group === group && isWanted(row));
    if (inGroup.length === 0) continue;
    names.push(words(left - 12, y + 19, groupNames[group], 'head end'));
    y += headHeight;
    for (const server of inGroup) {
      rows.push({ y: y + rowHeight / 2, server });
      names.push(words(left - 12, y + rowHeight / 2 + 4.5, server.name, 'end'));
      y += rowHeight;
    }
  }
  return { rows, names, bottom: y + 8 };
};

/** A dot; the hollow ones are told from the full ones without colour. */
export const dot = (x: number, y: number, radius: number, looks: string): string =>
  element('circle', { cx: x, cy: y, r: radius, class: looks });
