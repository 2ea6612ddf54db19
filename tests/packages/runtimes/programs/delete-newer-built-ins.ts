// For Node, preloaded before the suite: deletes the built-ins that are listed in newer-built-ins.json, if
// this Node has them, and prints the paths of the deleted ones to standard error.
import { readFileSync } from 'node:fs';

// Loads the fetch of Node first, because loading it requires newer built-ins.
await (await fetch('data:,')).text();

const file = new URL('newer-built-ins.json', import.meta.url);
const paths = JSON.parse(readFileSync(file, 'utf8')) as string[];
// Not a global, although the data has entries for its methods.
const hidden = new Map<string, unknown>([['TypedArray', Object.getPrototypeOf(Uint8Array)]]);

const find = (path: string) => {
  const [root = '', ...members] = path.split('.');
  const name = members.pop();
  const isSymbol = name?.startsWith('@@') === true;
  const key = isSymbol ? (Symbol as never)[name.slice(2)] : (name ?? root);
  let owner: unknown =
    name === undefined ? globalThis : (hidden.get(root) ?? Reflect.get(globalThis, root));
  for (const member of members) owner = Reflect.get(Object(owner), member);
  const exists = key !== undefined && Object.prototype.hasOwnProperty.call(Object(owner), key);
  return exists ? { owner: Object(owner) as object, key } : undefined;
};

const deleted = paths.filter((path) => {
  const found = find(path);
  if (found !== undefined) Reflect.deleteProperty(found.owner, found.key);
  return found !== undefined;
});
const remaining = paths.filter((path) => find(path) !== undefined);
if (remaining.length > 0) throw new Error(`cannot delete ${remaining.join(', ')}`);
console.error(JSON.stringify(deleted));
