// Hono on Node with its zod validator and its bearer middleware.
import { serve } from '@hono/node-server';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { z } from 'zod';
import { idTaken, openStore } from './store.mjs';

const newPlant = z.object({ id: z.int(), name: z.string(), tag: z.string().optional() });

const store = await openStore(process.argv[2]);
const app = new Hono();

app.use('/plants', bearerAuth({ token: process.env.TOKEN }));
app.post('/plants', zValidator('json', newPlant), async (c) => {
  const plant = c.req.valid('json');
  if (!(await store(plant))) return c.json(idTaken, 400);
  return c.json({ name: plant.name, tag: plant.tag });
});

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
