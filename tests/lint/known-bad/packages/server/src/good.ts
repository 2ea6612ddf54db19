// expected: nothing
import { createServer, type Server } from 'node:http';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { decodeBody } from '@plantstore/core/wire';

export const serve = (): Server => createServer();
export const repository = (): PlantRepository => createMemoryRepository();
export const isEmpty = (): number =>
  decodeBody(new Uint8Array()).isErr() ? errorTable['body-missing'].status : 200;
