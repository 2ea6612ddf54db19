import { createServer } from 'node:http';
import { acceptTokens, createRequestListener } from '@plantstore/server';
import { openSqliteRepository } from '@plantstore/sqlite';

const { PLANT_TOKEN } = process.env;
if (PLANT_TOKEN === undefined) throw new Error('set PLANT_TOKEN');

const opened = await openSqliteRepository({ path: process.env['PLANTS_FILE'] ?? 'plants.db' });
if (opened.isErr()) throw new Error(opened.error.message);

const listener = createRequestListener({
  repository: opened.value,
  authenticate: acceptTokens([PLANT_TOKEN]),
  basePath: '/garden',
});

const server = createServer(listener).listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
server.on('listening', () => console.log('POST to /garden/plants', server.address()));
