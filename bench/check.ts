import { post, type Server, withServer } from './server.ts';

const plant = { id: 7, name: 'Monstera', tag: 'climber' };
const idTaken = 'another plant with its id';

// In this order, because the store keeps what it accepted.
const cases = [
  { what: 'a plant', body: plant, status: 200 },
  { what: 'the same plant again', body: plant, status: 200 },
  { what: idTaken, body: { ...plant, name: 'Ficus' }, status: 400 },
  { what: 'a plant without a name', body: { id: 8 }, status: 400 },
  { what: 'an id that is text', body: { ...plant, id: 'x' }, status: 400 },
  { what: 'a plant without a token', authorization: '', body: plant, status: 401 },
  { what: 'a plant with a wrong token', authorization: 'Bearer wrong', body: plant, status: 401 },
];

const plantAnswer = JSON.stringify({ name: plant.name, tag: plant.tag });

/** Throws unless a server does the job that is measured: bearer token, validation, unique ids, the response. */
export const check = async (server: Server): Promise<void> =>
  withServer(server, async (port) => {
    const faults: string[] = [];
    for (const { what, authorization, body, status } of cases) {
      if (server.forgets === true && what === idTaken) continue;
      const response = await post(port, body, authorization);
      const text = await response.text();
      if (response.status !== status || (status === 200 && text !== plantAnswer))
        faults.push(`the response to ${what} was ${response.status} ${text}`);
    }
    if (faults.length > 0) throw new Error(`it does another job: ${faults.join('; ')}`);
  });
