import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { type Change, headOf, requestWith } from '../../test/requests.ts';
import { admissionOf, serviceWith } from '../../test/services.ts';
import { pairsOf } from './responses.ts';

const garden = 'https://garden.example';
const corsOrigins = [garden, 'http://localhost:5173'];
const corsService = serviceWith({ corsOrigins });

const headersFor = (origin?: string | readonly string[]) =>
  pairsOf(corsService.headersFor(headOf(requestWith({ Origin: origin })).origin));

const preflight: Change = {
  method: 'OPTIONS',
  Authorization: undefined,
  'Content-Type': undefined,
  'Content-Length': undefined,
  Origin: garden,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,content-type',
};

const respondTo = async (request: Change, service = corsService) => {
  const admission = await service.admit(headOf(requestWith(request)));
  if (admission.response === undefined) return undefined;
  const { headers, ...response } = admission.response;
  return { ...response, headers: pairsOf(headers) };
};

describe('CORS headers of every response', () => {
  it.each(corsOrigins)(
    'the CORS headers of every response allow the listed origin %s and expose three response headers',
    (origin) => {
      expect(headersFor(origin)).toEqual([
        ['Access-Control-Allow-Origin', origin],
        ['Access-Control-Expose-Headers', 'Retry-After, WWW-Authenticate, X-Request-Id'],
        ['Vary', 'Origin'],
      ]);
    },
  );

  it.each<[string, (string | readonly string[])?]>([
    ['no origin'],
    ['another origin', 'https://weeds.example'],
    ['a longer name', 'https://garden.example.weeds.example'],
    ['a shorter name', 'https://garden.exampl'],
    ['a subdomain', 'https://my.garden.example'],
    ['another scheme', 'http://garden.example'],
    ['another port', 'https://garden.example:8443'],
    ['another case', 'https://Garden.example'],
    ['a trailing slash', 'https://garden.example/'],
    ['null', 'null'],
    ['the asterisk', '*'],
    ['two origins in one field', `${garden} ${garden}`],
    ['two fields, both of them listed', [garden, garden]],
    ['the name of an object property', '__proto__'],
  ])('the CORS headers of every response have only Vary: Origin for %s', (_, origin) => {
    expect(headersFor(origin)).toEqual([['Vary', 'Origin']]);
  });

  it('the CORS headers of every response are absent if CORS is off', () => {
    expect(serviceWith().headersFor(garden)).toEqual([]);
  });
});

describe('preflight', () => {
  it('a preflight gets a response without a token, with the allowed method and headers', async () => {
    expect(await respondTo(preflight)).toEqual({
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

  it.each([
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'app://-',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    'moz-extension://2c3ee5d4-1d8e-4b0c-8a5d-0f0c1a2b3c4d',
    'vscode-webview://0f2k',
  ])('a page of an app, of the origin %s, may call the service', async (origin) => {
    expect(serviceWith({ corsOrigins: [origin] }).headersFor(origin)).toContain(origin);
  });

  it('a preflight allows the headers of corsAllowedHeaders, too', async () => {
    const allowing = serviceWith({ corsOrigins, corsAllowedHeaders: ['traceparent', 'X-Key'] });
    expect((await respondTo(preflight, allowing))?.headers).toContainEqual([
      'Access-Control-Allow-Headers',
      'authorization, content-type, traceparent, X-Key',
    ]);
  });

  it.each<[string, Change]>([
    ['another origin', { Origin: 'https://weeds.example' }],
    ['two origins', { Origin: [garden, garden] }],
    ['no origin', { Origin: undefined }],
  ])('a preflight of %s gets no CORS headers', async (_, change) => {
    expect(await respondTo({ ...preflight, ...change })).toMatchObject({
      status: 204,
      headers: [['Allow', 'OPTIONS, POST']],
      body: '',
    });
  });

  it.each<[ErrorName, Change]>([
    ['bad-request', { Host: undefined }],
    ['path-unknown', { target: '/elsewhere' }],
    ['path-unknown', { target: '*' }],
  ])('a preflight is checked after framing, Host and path: %s', async (name, change) => {
    expect(await respondTo({ ...preflight, ...change })).toMatchObject({
      error: errorTable[name].error,
    });
  });

  it('a preflight is refused with 405 if CORS is off', async () => {
    const response = await respondTo(preflight, serviceWith());
    expect(response).toMatchObject({ status: 405, error: errorTable['method-not-allowed'].error });
    expect(response?.headers).toContainEqual(['Allow', 'POST']);
  });
});

describe('CORS', () => {
  it('a service with CORS refuses another method with Allow: OPTIONS, POST', async () => {
    const response = await respondTo({ method: 'PUT' });
    expect(response).toMatchObject({ status: 405, error: errorTable['method-not-allowed'].error });
    expect(response?.headers).toContainEqual(['Allow', 'OPTIONS, POST']);
  });

  it('a listed origin of CORS still needs a token', async () => {
    expect(await admissionOf({ Origin: garden }, { corsOrigins })).toBe('admitted');
    const withoutToken = { Origin: garden, Authorization: undefined };
    expect(await admissionOf(withoutToken, { corsOrigins })).toBe('unauthenticated');
  });

  it.each([
    '*',
    'null',
    '',
    'garden.example',
    `${garden}/`,
    'https://Garden.example',
    'https://',
    'ftp://garden.example',
    'ws://garden.example',
    7,
    'https://*.example.com',
    'capacitor://*',
    'capacitor://localhost/',
    'Tauri://localhost',
    'tauri://Localhost',
    'tauri://',
  ])('the CORS origin %j throws a TypeError', (wrong) => {
    const origins = [garden, wrong] as string[];
    expect(() => serviceWith({ corsOrigins: origins })).toThrow('corsOrigins must ');
  });

  it.each([
    ['null', 'must not have null: any page can have this origin'],
    ['https://*.example.com', 'must have each origin in full: a * matches none'],
    ['https://garden.example/', 'must be origins such as https://garden.example, in lower case'],
  ])('the message about the CORS origin %s states the rule: %s', (origin, rule) => {
    expect(() => serviceWith({ corsOrigins: [garden, origin] })).toThrow(`corsOrigins ${rule}`);
  });

  it.each(['*', '', 'two words', 'a:', 'a,b', 'a\r\nb', 7])(
    'the CORS header name %j throws a TypeError',
    (wrong) => {
      const corsAllowedHeaders = ['traceparent', wrong] as string[];
      expect(() => serviceWith({ corsOrigins, corsAllowedHeaders })).toThrow(
        'corsAllowedHeaders must be header names',
      );
    },
  );

  it('a string as corsAllowedHeaders throws a TypeError', () => {
    expect(() => serviceWith({ corsAllowedHeaders: 'traceparent' as never })).toThrow(
      'corsAllowedHeaders must be',
    );
  });

  it('a string as corsOrigins throws a TypeError', () => {
    expect(() => serviceWith({ corsOrigins: garden as never })).toThrow('corsOrigins must be');
  });
});
