import { post, type Server, withServer } from './server.ts';

const plant = { id: 7, name: 'Monstera', tag: 'climber' };
const idTaken = 'another plant with its id';

// The order matters, because the store is not reset between cases.
const cases = [
  { name: 'a plant', body: plant, status: 200 },
  { name: 'the same plant again', body: plant, status: 200 },
  { name: idTaken, body: { ...plant, name: 'Ficus' }, status: 400 },
  { name: 'a plant without a name', body: { id: 8 }, status: 400 },
  { name: 'an id that is text', body: { ...plant, id: 'x' }, status: 400 },
  { name: 'a plant without a token', authorization: '', body: plant, status: 401 },
  { name: 'a plant with a wrong token', authorization: 'Bearer wrong', body: plant, status: 401 },
];

const expectedBody = JSON.stringify({ name: plant.name, tag: plant.tag });

/** Throws unless a server implements the measured operation: bearer token, validation, unique ids, the response. */
export const verifyServer = async (server: Server): Promise<void> =>
  withServer(server, async (port) => {
    const faults: string[] = [];
    for (const { name, authorization, body, status } of cases) {
      if (server.storesNothing === true && name === idTaken) continue;
      const response = await post(port, body, authorization);
      const text = await response.text();
      if (response.status !== status || (status === 200 && text !== expectedBody))
        faults.push(`the response to ${name} was ${response.status} ${text}`);
    }
    if (faults.length > 0)
      throw new Error(`it does not implement the operation: ${faults.join('; ')}`);
  });
