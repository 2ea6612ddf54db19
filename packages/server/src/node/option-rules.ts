import { isAddressRange } from '../http/client-address.ts';
import { isListOf, type OptionRules, serviceRules, wholeNumber } from '../http/option-rules.ts';

/** The rules of the options that only servers and listeners on `node:http` have. */
const nodeRules = {
  trustedProxies: {
    default: [],
    requirement: 'must be addresses, or ranges such as 10.0.0.0/8',
    isValid: isListOf(isAddressRange),
  },
  // Without a host, Node listens on all addresses.
  host: {
    default: '127.0.0.1',
    requirement: 'must be a host name or an address, without brackets',
    isValid: (value) => typeof value === 'string' && value !== '' && !value.startsWith('['),
  },
  port: wholeNumber(3_000, 0, 65_535),
  reusePort: {
    default: false,
    requirement: 'must be true or false',
    isValid: (value) => typeof value === 'boolean',
  },
  fd: {
    default: undefined,
    requirement: 'must be a file descriptor, a whole number from 0',
    isValid: (value) => Number.isInteger(value) && Number(value) >= 0,
  },
} as const satisfies OptionRules;

/**
 * The rule of every option of {@link startServer} but `tls`, by name: its default, and what a valid value is. A program
 * that reads options from settings can check them before it starts a server, which throws a `TypeError` for the first
 * wrong one.
 *
 * @example
 * ```ts
 * import { optionRules } from '@plantstore/server';
 *
 * const { default: byDefault, isValid, requirement } = optionRules.port;
 * const port = Number(process.env['PORT'] ?? byDefault);
 * if (!isValid(port)) console.error(`PORT ${requirement}`);
 * ```
 */
export const optionRules = { ...serviceRules, ...nodeRules };
