import compatData, {
  type CompatStatement,
  type Identifier,
  type SimpleSupportStatement,
} from '@mdn/browser-compat-data/forLegacyNode';

/** The oldest supported version of each browser, such as `{ safari: 14.1 }`. */
export type Versions = Readonly<Record<string, number>>;

/** Returns the versions of a `browserslist`, such as `['safari >= 14.1']`. */
export const versionsOf = (browserslist: readonly string[]): Versions =>
  Object.fromEntries(
    browserslist.map((range) => {
      const [browser = '', version] = range.split(' >= ');
      return [browser, Number(version)];
    }),
  );

const isAtMost = (added: unknown, version: number): boolean =>
  typeof added === 'string' && Number.parseFloat(added.replace('≤', '')) <= version;

/** Returns whether a version fully supports a feature: without a flag, a prefix or another name. */
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

/** Newer built-ins that are not deleted: two cannot be deleted, and the fetch of Node uses the others. */
export const kept: readonly string[] = [
  'Symbol.asyncDispose',
  'Symbol.dispose',
  'Error.captureStackTrace',
  'String.prototype.toWellFormed',
  'ReadableStream.prototype.@@asyncIterator',
  'ReadableStream.prototype.pipeThrough',
];

/**
 * Returns the paths of the built-ins and web APIs that one of these browsers does not support according to
 * MDN's data, such as `Array.prototype.toSorted`. The methods of an object precede the object.
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
    // The data does not distinguish static members.
    ...newerMembers(node).flatMap((member) => [`${name}.prototype.${member}`, `${name}.${member}`]),
    ...(isNewerNode(node) ? [name] : []),
  ]);
  const webApis = nodesOf(api).flatMap(([name, node]) =>
    // The fetch of Node uses objects of newer interfaces, so only the names of these are deleted.
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
