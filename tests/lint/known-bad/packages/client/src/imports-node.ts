// expected: eslint/no-restricted-imports
import { Agent } from 'node:http';

export const agent = new Agent();
