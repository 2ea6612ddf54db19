// expected: typescript/no-floating-promises
import { writeFile } from 'node:fs/promises';

export const forget = (path: string): void => {
  writeFile(path, '');
};
