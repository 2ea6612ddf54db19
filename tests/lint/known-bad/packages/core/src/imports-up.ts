// expected: eslint/no-restricted-imports
import { openText } from '../../sqlite/src/good.ts';

export const open = openText;
