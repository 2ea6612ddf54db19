import { createServer } from 'node:http';
import { acceptTokens, createRequestListener } from '@plantstore/server';
import { openSqliteRepository } from '@plantstore/sqlite';

const opened = await openSqliteRepository({ path: process.env['PLANTS_FILE'] ?? 'plants.db' });
if (opened.isErr()) throw new Error(opened.error.message);

const authenticate = acceptTokens([process.env['PLANT_TOKEN'] ?? '']);
const listener = createRequestListener({ repository: opened.value, authenticate });
createServer(listener).listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
