// The disk's limit: plants appended to a file in groups, each group on the disk before the next.
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';

const [file = '', group = '64', seconds = '3'] = process.argv.slice(2);

let lastId = 0;
const record = (): string => {
  lastId += 1;
  return `{"id":${Math.floor(Math.random() * 2 ** 20) * 2 ** 32 + lastId},"name":"Monstera","tag":"climber"}\n`;
};

const descriptor = openSync(file, 'a');
const began = performance.now();
while (performance.now() - began < Number(seconds) * 1_000) {
  writeSync(descriptor, Array.from({ length: Number(group) }, record).join(''));
  fdatasyncSync(descriptor);
}
process.send?.({ perSecond: (lastId * 1_000) / (performance.now() - began) });
closeSync(descriptor);
process.disconnect?.();
