import { describe, expect, it } from 'vitest';
import { nearestName } from './nearest-name.ts';
import { flagOf, settingNames, variableOf } from './setting-table.ts';

const flags = [...settingNames.flatMap((name) => flagOf(name) ?? []), '--help', '--version'];
const variables = settingNames.map(variableOf);

describe('nearestName', () => {
  it.each([
    ['--prot', '--port'],
    ['--Port', '--port'],
    ['--hsot', '--host'],
    ['--logs', '--log'],
    ['--databse', '--database'],
    ['--token-file', '--tokens-file'],
    ['--tokensfile', '--tokens-file'],
    ['--maxBodyBytes', '--max-body-bytes'],
    ['--max_body_bytes', '--max-body-bytes'],
    ['--cors-origin', '--cors-origins'],
    ['--halp', '--help'],
  ])('nearestName suggests for the flag %s the name %s', (name, expected) => {
    expect(nearestName(name, flags, '--')).toBe(expected);
  });

  it.each(['--colour', '--no-log', '--p', '--', '--verbose', '--data', '--timeout', '--tls'])(
    'nearestName suggests nothing for the flag %s',
    (name) => {
      expect(nearestName(name, flags, '--')).toBeUndefined();
    },
  );

  it.each([
    ['PLANTSTORE_PROT', 'PLANTSTORE_PORT'],
    ['PLANTSTORE_TOKEN', 'PLANTSTORE_TOKENS'],
    ['PLANTSTORE_TOKEN_FILE', 'PLANTSTORE_TOKENS_FILE'],
    ['PLANTSTORE_KEEPALIVE_TIMEOUT_MS', 'PLANTSTORE_KEEP_ALIVE_TIMEOUT_MS'],
    ['plantstore_port', 'PLANTSTORE_PORT'],
  ])('nearestName suggests for the variable %s the name %s', (name, expected) => {
    expect(nearestName(name, variables, 'PLANTSTORE_')).toBe(expected);
  });

  // Variables that Kubernetes and Docker links set for a service named "plantstore".
  it.each([
    'PLANTSTORE_SERVICE_HOST',
    'PLANTSTORE_SERVICE_PORT',
    'PLANTSTORE_SERVICE_PORT_HTTP',
    'PLANTSTORE_PORT_3000_TCP',
    'PLANTSTORE_PORT_3000_TCP_PROTO',
    'PLANTSTORE_PORT_3000_TCP_PORT',
    'PLANTSTORE_PORT_3000_TCP_ADDR',
    'PLANTSTORE_NAME',
    'PLANTSTORE_ENV_PATH',
  ])('nearestName suggests nothing for the variable %s', (name) => {
    expect(nearestName(name, variables, 'PLANTSTORE_')).toBeUndefined();
  });
});
