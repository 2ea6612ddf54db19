const { createMemoryRepository, createPlant } = require('@plantstore/core');
const { errorTable } = require('@plantstore/core/errors');
const { decodeBody } = require('@plantstore/core/wire');
const { createClient } = require('@plantstore/client');
const { openPostgresRepository } = require('@plantstore/postgres');
const { createRequestListener } = require('@plantstore/server');
const { openSqliteRepository } = require('@plantstore/sqlite');
const openapi = require('@plantstore/core/openapi.json');

const all = {
  createClient,
  createRequestListener,
  openPostgresRepository,
  openSqliteRepository,
  decodeBody,
};
const missing = Object.keys(all).filter((name) => typeof all[name] !== 'function');

void createPlant(createMemoryRepository(), { id: 7, name: 'Monstera' }).map(({ name }) =>
  console.log([name, missing.length, errorTable.internal.status, openapi.info.title].join('; ')),
);
