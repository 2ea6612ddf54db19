// Express 5 with zod. Express has no bearer authentication, so this is a middleware as in its guide.
import express from 'express';
import { z } from 'zod';
import { idTaken, openStore } from './store.mjs';

const newPlant = z.object({ id: z.int(), name: z.string(), tag: z.string().optional() });

const store = await openStore(process.argv[2]);
const app = express();

app.use((request, response, next) => {
  if (request.get('authorization') === `Bearer ${process.env.TOKEN}`) next();
  else response.status(401).json({ error: 2401, message: 'a bearer token is needed' });
});
app.use(express.json());

app.post('/plants', (request, response) => {
  const read = newPlant.safeParse(request.body);
  if (!read.success) response.status(400).json({ message: z.prettifyError(read.error) });
  else if (!store(read.data)) response.status(400).json(idTaken);
  else response.json({ name: read.data.name, tag: read.data.tag });
});

app.listen(Number(process.env.PORT), '127.0.0.1');
