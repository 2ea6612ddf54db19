// The rows that the plots of the servers share, one section below the other.
import type { ContenderResult, Servers } from '../results.ts';
import { sectionsOf } from '../tables.ts';
import { element, words } from './svg.ts';

/** A server, or the baseline, as it is drawn. */
export type DrawnServer = Pick<ContenderResult, 'name' | 'group' | 'store' | 'cpu' | 'latencyMs'>;

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
  { name: baseline.name, group: 'limit', cpu: one, latencyMs: baseline.latencyMs },
  ...contenders,
];

/** Places the servers that are wanted below a height, with their names. */
export const placeRows = (
  servers: Servers,
  top: number,
  isWanted: (server: DrawnServer) => boolean,
): {
  readonly rows: readonly Row[];
  readonly names: readonly string[];
  readonly bottom: number;
} => {
  const rows: Row[] = [];
  const names: string[] = [];
  let y = top;
  for (const { title, rows: inSection } of sectionsOf(drawnServers(servers).filter(isWanted))) {
    names.push(words(left - 12, y + 19, title, 'head end'));
    y += headHeight;
    for (const server of inSection) {
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
