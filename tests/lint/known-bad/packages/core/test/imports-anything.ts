// expected: eslint/no-restricted-imports
import { format } from 'prettier';

export const formatted = (text: string): Promise<string> => format(text);
