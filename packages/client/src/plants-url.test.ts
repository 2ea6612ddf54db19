import { describe, expect, it } from 'vitest';
import { plantsUrl } from './settings.ts';

describe('plantsUrl', () => {
  it.each([
    ['https://plants.example', 'https://plants.example/plants'],
    ['https://plants.example/', 'https://plants.example/plants'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/plants'],
    ['http://[::1]:3000/', 'http://[::1]:3000/plants'],
    ['HTTPS://plants.example/garden/v1', 'https://plants.example/garden/v1/plants'],
    ['https://plants.example/garden/v1/', 'https://plants.example/garden/v1/plants'],
    ['https://plants.example/a@b', 'https://plants.example/a@b/plants'],
    [new URL('https://plants.example/garden'), 'https://plants.example/garden/plants'],
  ])('plantsUrl returns for %s the URL %s', (baseUrl, url) => {
    expect(plantsUrl(baseUrl)).toBe(url);
  });

  it.each([
    'https://ada:pw@plants.example',
    'https://ada@plants.example',
    'https://:pw@plants.example',
    'https://@plants.example',
    'https://:@plants.example',
    'http:///plants.example',
    'http:////plants.example',
    'http:/\\plants.example',
    'https://plants.example\u0001',
    'https://plants.example/\0',
    'https://plants.example?a=1',
    'https://plants.example/?',
    'https://plants.example#a',
    'https://plants.example/#',
    ' https://plants.example',
    'https://plants.example\n',
    'https://pla\tnts.example',
    'ftp://plants.example',
    'javascript:alert(1)',
    '/garden',
    'plants.example',
    'https:',
    'https://',
    'https://plants.example:99999',
    'https://pl[ants',
    '',
    undefined,
    null,
    7,
    Symbol('https://plants.example'),
    new URL('https://ada@plants.example'),
    new URL('https://plants.example?a=1'),
    ['https://plants.example'],
  ])('plantsUrl returns undefined for %s', (baseUrl) => {
    expect(plantsUrl(baseUrl)).toBeUndefined();
  });
});
