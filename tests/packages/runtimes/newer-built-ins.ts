import compatData, {
  type CompatStatement,
  type Identifier,
  type SimpleSupportStatement,
} from '@mdn/browser-compat-data/forLegacyNode';

/** Browsers and their oldest promised versions, such as `{ safari: 14.1 }`. */
export type Versions = Readonly<Record<string, number>>;

/** Reads versions from a manifest's `browserslist`, such as `['safari >= 14.1']`. */
export const versionsOf = (browserslist: readonly string[]): Versions =>
  Object.fromEntries(
    browserslist.map((range) => {
      const [browser = '', version] = range.split(' >= ');
      return [browser, Number(version)];
    }),
  );

const isAtMost = (added: unknown, version: number): boolean =>
  typeof added === 'string' && Number.parseFloat(added.replace('≤', '')) <= version;

/** Whether a version has a feature as it is specified: without flag, prefix, other name or gap. */
const hasFeature = (statement: SimpleSupportStatement, version: number): boolean =>
  isAtMost(statement.version_added, version) &&
  !isAtMost(statement.version_removed, version) &&
  statement.flags === undefined &&
  statement.prefix === undefined &&
  statement.alternative_name === undefined &&
  statement.partial_implementation !== true;

const isNewer = ({ support }: CompatStatement, versions: Versions): boolean =>
  Object.entries(versions).some(([browser, version]) => {
    const statements = support[browser as keyof typeof support] ?? [];
    return ![statements].flat().some((statement) => hasFeature(statement, version));
  });

/** Newer ones that stay: two that cannot be deleted, and those that Node's own fetch needs at each request. */
export const kept: readonly string[] = [
  'Symbol.asyncDispose',
  'Symbol.dispose',
  'Error.captureStackTrace',
  'String.prototype.toWellFormed',
  'ReadableStream.prototype.@@asyncIterator',
  'ReadableStream.prototype.pipeThrough',
];

/**
 * The paths of the built-ins and web APIs that one of these browsers does not have yet, such as
 * `Array.prototype.toSorted`, by MDN's data. The methods of an object come before the object.
 */
export const newerBuiltIns = (versions: Versions): string[] => {
  const nodesOf = (group: Identifier | undefined) => {
    const { __compat: _, ...nodes } = group ?? {};
    return Object.entries(nodes);
  };
  const isNewerNode = ({ __compat: compat }: Identifier) =>
    compat !== undefined && isNewer(compat, versions);
  const newerMembers = (node: Identifier) =>
    nodesOf(node).flatMap(([name, member]) => (isNewerNode(member) ? [name] : []));
  const { api, javascript } = compatData;
  const builtIns = nodesOf(javascript['builtins']).flatMap(([name, node]) => [
    // The data does not say which members are static.
    ...newerMembers(node).flatMap((member) => [`${name}.prototype.${member}`, `${name}.${member}`]),
    ...(isNewerNode(node) ? [name] : []),
  ]);
  const webApis = nodesOf(api).flatMap(([name, node]) =>
    // Node's own fetch uses objects of newer interfaces; only their names are removed.
    isNewerNode(node)
      ? [name]
      : newerMembers(node).map((member) =>
          member.endsWith('_static')
            ? `${name}.${member.replace('_static', '')}`
            : `${name}.prototype.${member}`,
        ),
  );
  return [...builtIns, ...webApis].filter((path) => !kept.includes(path));
};
