// Elysia on Bun, with TypeBox and its own bearer plugin.
import { bearer } from '@elysiajs/bearer';
import { Elysia, t } from 'elysia';
import { idTaken, openStore } from './store.mjs';

// The handler is synchronous, because both measured stores are.
const store = await openStore(process.argv[2]);

new Elysia()
  .use(bearer())
  // The default status of Elysia is 422.
  .onError(({ code, error, status }) =>
    code === 'VALIDATION' ? status(400, { error: 1000, message: error.message }) : undefined,
  )
  .post(
    '/plants',
    ({ body, status }) => {
      if (!store(body)) return status(400, idTaken);
      return { name: body.name, tag: body.tag };
    },
    {
      body: t.Object({ id: t.Integer(), name: t.String(), tag: t.Optional(t.String()) }),
      beforeHandle({ bearer: token, status }) {
        if (token === process.env.TOKEN) return;
        return status(401, { error: 2401, message: 'a bearer token is needed' });
      },
    },
  )
  .listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' });
