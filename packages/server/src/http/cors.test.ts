import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { goodRequest, headOf, type Request, withFields, without } from '../../test/requests.ts';
import { admitted, pairsOf, serviceWith } from '../../test/services.ts';

const garden = 'https://garden.example';
const corsOrigins = [garden, 'http://localhost:5173'];
const service = serviceWith({ corsOrigins });

const headersFor = (origin?: string | readonly string[]) =>
  pairsOf(
    service.fieldsFor(
      headOf(origin === undefined ? goodRequest : withFields({ Origin: origin })(goodRequest))
        .origin,
    ),
  );

const preflight: Request = {
  ...goodRequest,
  method: 'OPTIONS',
  fields: {
    Host: 'localhost:3000',
    Origin: garden,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type',
  },
};

const answerTo = async (request: Request, one = service) => {
  const admission = await one.admit(headOf(request));
  if (admission.kind !== 'answered') return undefined;
  const { fields, ...answer } = admission.answer;
  return { ...answer, headers: pairsOf(fields) };
};

describe('what every answer carries', () => {
  it.each(corsOrigins)('names the listed origin %s, and what its pages may read', (origin) => {
    expect(headersFor(origin)).toEqual([
      ['Access-Control-Allow-Origin', origin],
      ['Access-Control-Expose-Headers', 'Retry-After, WWW-Authenticate, X-Request-Id'],
      ['Vary', 'Origin'],
    ]);
  });

  it.each<[string, (string | readonly string[])?]>([
    ['no origin'],
    ['another origin', 'https://weeds.example'],
    ['a longer name', 'https://garden.example.weeds.example'],
    ['a shorter name', 'https://garden.exampl'],
    ['a name below it', 'https://my.garden.example'],
    ['another scheme', 'http://garden.example'],
    ['another port', 'https://garden.example:8443'],
    ['another case', 'https://Garden.example'],
    ['a slash at the end', 'https://garden.example/'],
    ['null', 'null'],
    ['the asterisk', '*'],
    ['two origins in one field', `${garden} ${garden}`],
    ['two fields, both of them listed', [garden, garden]],
    ['the name of a property', '__proto__'],
  ])('tells a cache alone that it depends on the origin: %s', (_, origin) => {
    expect(headersFor(origin)).toEqual([['Vary', 'Origin']]);
  });

  it('is nothing where CORS is off', () => {
    expect(serviceWith().fieldsFor(garden)).toEqual([]);
  });
});

describe('a preflight', () => {
  it('is answered without a token: what a listed origin may send', async () => {
    expect(await answerTo(preflight)).toEqual({
      status: 204,
      headers: [
        ['Allow', 'OPTIONS, POST'],
        ['Access-Control-Allow-Methods', 'POST'],
        ['Access-Control-Allow-Headers', 'authorization, content-type'],
        ['Access-Control-Max-Age', '7200'],
      ],
      body: '',
    });
  });

  it('allows the further headers of the options, too', async () => {
    const allowing = serviceWith({ corsOrigins, corsAllowedHeaders: ['traceparent', 'X-Key'] });
    expect((await answerTo(preflight, allowing))?.headers).toContainEqual([
      'Access-Control-Allow-Headers',
      'authorization, content-type, traceparent, X-Key',
    ]);
  });

  it.each<[string, Request]>([
    ['another origin', withFields({ Origin: 'https://weeds.example' })(preflight)],
    ['two origins', withFields({ Origin: [garden, garden] })(preflight)],
    ['none, so that it is none', without('Origin')(preflight)],
  ])('of %s is allowed nothing', async (_, request) => {
    expect(await answerTo(request)).toEqual({
      status: 204,
      headers: [['Allow', 'OPTIONS, POST']],
      body: '',
    });
  });

  it.each<[ErrorName, Request]>([
    ['bad-request', without('Host')(preflight)],
    ['path-unknown', { ...preflight, target: '/elsewhere' }],
    ['path-unknown', { ...preflight, target: '*' }],
  ])('comes after framing, Host and path: %s', async (name, request) => {
    expect(await answerTo(request)).toMatchObject({ error: errorTable[name].error });
  });

  it('is no allowed method where CORS is off', async () => {
    const answer = await answerTo(preflight, serviceWith());
    expect(answer).toMatchObject({ status: 405, error: errorTable['method-not-allowed'].error });
    expect(answer?.headers).toContainEqual(['Allow', 'POST']);
  });
});

describe('with CORS on', () => {
  it('another method is told both that are allowed', async () => {
    const answer = await answerTo({ ...goodRequest, method: 'PUT' });
    expect(answer).toMatchObject({ status: 405, error: errorTable['method-not-allowed'].error });
    expect(answer?.headers).toContainEqual(['Allow', 'OPTIONS, POST']);
  });

  it('no origin replaces the token', async () => {
    const fromGarden = withFields({ Origin: garden });
    expect(await admitted(fromGarden, { corsOrigins })).toBe('admitted');
    expect(
      await admitted((request) => without('Authorization')(fromGarden(request)), { corsOrigins }),
    ).toBe('unauthenticated');
  });

  it.each(['*', 'null', '', 'garden.example', `${garden}/`, 'https://Garden.example', 7])(
    'no origin is %j',
    (wrong) => {
      const origins = [garden, wrong] as string[];
      expect(() => serviceWith({ corsOrigins: origins })).toThrow('corsOrigins must be origins');
    },
  );

  it.each(['*', '', 'two words', 'a:', 'a,b', 'a\r\nb', 7])('no header name is %j', (wrong) => {
    const corsAllowedHeaders = ['traceparent', wrong] as string[];
    expect(() => serviceWith({ corsOrigins, corsAllowedHeaders })).toThrow(
      'corsAllowedHeaders must be header names',
    );
  });

  it('no list of header names is a text', () => {
    expect(() => serviceWith({ corsAllowedHeaders: 'traceparent' as never })).toThrow(
      'corsAllowedHeaders must be',
    );
  });

  it('no list of origins is a text', () => {
    expect(() => serviceWith({ corsOrigins: garden as never })).toThrow('corsOrigins must be');
  });
});
