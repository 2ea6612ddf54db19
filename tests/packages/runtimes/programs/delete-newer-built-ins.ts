// For Node, imported before the suite: removes the built-ins whose paths are in newer-built-ins.json, as
// far as this Node has them, and prints the paths of these on standard error.
import { readFileSync } from 'node:fs';

// Node's own fetch is loaded first: it needs newer built-ins while it loads.
await (await fetch('data:,')).text();

const file = new URL('newer-built-ins.json', import.meta.url);
const paths = JSON.parse(readFileSync(file, 'utf8')) as string[];
// No global, although its methods have their own entries in the data.
const hidden = new Map<string, unknown>([['TypedArray', Object.getPrototypeOf(Uint8Array)]]);

const find = (path: string) => {
  const [root = '', ...members] = path.split('.');
  const name = members.pop();
  const isSymbol = name?.startsWith('@@') === true;
  const key = isSymbol ? (Symbol as never)[name.slice(2)] : (name ?? root);
  let owner: unknown =
    name === undefined ? globalThis : (hidden.get(root) ?? Reflect.get(globalThis, root));
  for (const member of members) owner = Reflect.get(Object(owner), member);
  const isThere = key !== undefined && Object.prototype.hasOwnProperty.call(Object(owner), key);
  return isThere ? { owner: Object(owner) as object, key } : undefined;
};

const removed = paths.filter((path) => {
  const found = find(path);
  if (found !== undefined) Reflect.deleteProperty(found.owner, found.key);
  return found !== undefined;
});
const left = paths.filter((path) => find(path) !== undefined);
if (left.length > 0) throw new Error(`cannot remove ${left.join(', ')}`);
console.error(JSON.stringify(removed));
