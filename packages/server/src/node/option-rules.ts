import { isProxy } from '../http/client-address.ts';
import {
  isListOf,
  type OptionRule,
  rule,
  serviceRules,
  wholeNumber,
} from '../http/option-rules.ts';
import type { Limits } from '../http/options.ts';

/** @inline */
type NumberOption = keyof Limits | 'port';

/** @inline */
type OtherOption = 'repository' | 'authenticate' | 'corsOrigins' | 'corsAllowedHeaders' | 'logger';

/**
 * The rule of every option of {@link startServer} but `tls`, by name: its default and what is expected. A program that
 * reads options from settings can check them with it; the constructors throw a `TypeError` for the first wrong option.
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
export const optionRules: Readonly<
  Record<NumberOption, OptionRule<number>> &
    Record<'basePath' | 'host', OptionRule<string>> &
    Record<'reusePort', OptionRule<boolean>> &
    Record<OtherOption | 'trustedProxies' | 'fd', OptionRule>
> = {
  ...serviceRules,
  trustedProxies: rule(
    [],
    'must be addresses, ranges such as 10.0.0.0/8, or unix',
    isListOf(isProxy),
  ),
  // Without a host, Node listens on all addresses.
  host: rule(
    '127.0.0.1',
    'must be a host name or an address, without brackets',
    (value) => typeof value === 'string' && value !== '' && !value.startsWith('['),
  ),
  port: wholeNumber(3_000, 0, 65_535),
  reusePort: rule(false, 'must be true or false', (value) => typeof value === 'boolean'),
  fd: rule(
    undefined,
    'must be a file descriptor, a whole number from 0',
    (value) => Number.isInteger(value) && Number(value) >= 0,
  ),
};
