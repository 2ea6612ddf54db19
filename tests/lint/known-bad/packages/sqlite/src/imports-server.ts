// expected: eslint/no-restricted-imports
import * as server from '@plantstore/server';

export const all: unknown = server;
