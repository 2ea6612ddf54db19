import { expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

it.each(['127.0.0.1', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  '%s is a loopback address',
  (address) => expect(isLoopback(address)).toBe(true),
);

it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'fe80::1', '::ffff:10.0.0.1'])(
  '%s is not a loopback address',
  (address) => expect(isLoopback(address)).toBe(false),
);
