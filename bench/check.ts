import type { Contender } from './measure.ts';
import { withServer } from './measure.ts';
import { token } from './token.ts';

const plant = { id: 7, name: 'Monstera', tag: 'climber' };

const bearer = `Bearer ${token}`;

const taken = 'another plant under its id';

// In this order: the store remembers.
const cases = [
  { what: 'a plant', authorization: bearer, body: plant, status: 200 },
  { what: 'the same plant again', authorization: bearer, body: plant, status: 200 },
  {
    what: taken,
    authorization: bearer,
    body: { ...plant, name: 'Ficus' },
    status: 400,
  },
  { what: 'a plant without a name', authorization: bearer, body: { id: 8 }, status: 400 },
  {
    what: 'a plant whose id is a word',
    authorization: bearer,
    body: { ...plant, id: 'seven' },
    status: 400,
  },
  { what: 'a plant without a token', authorization: '', body: plant, status: 401 },
  { what: 'a plant with a wrong token', authorization: 'Bearer wrong', body: plant, status: 401 },
];

const casesFor = ({ forgets = false }: Contender) =>
  forgets ? cases.filter(({ what }) => what !== taken) : cases;

const answerTo = { 200: JSON.stringify({ name: plant.name, tag: plant.tag }) };

/** Throws unless a contender does the job that is measured: bearer, validation, unique ids, the answer. */
export const check = async (contender: Contender): Promise<void> =>
  withServer(contender, async (port) => {
    const faults: string[] = [];
    for (const { what, authorization, body, status } of casesFor(contender)) {
      const response = await fetch(`http://127.0.0.1:${port}/plants`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(authorization !== '' && { Authorization: authorization }),
        },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const isAsExpected = response.status === status && (status !== 200 || text === answerTo[200]);
      if (!isAsExpected) faults.push(`${what} was answered ${response.status} ${text}`);
    }
    if (faults.length > 0) throw new Error(`it does another job: ${faults.join('; ')}`);
  });
