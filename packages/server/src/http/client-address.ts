import type { BlockList } from 'node:net';
import type { RequestHead } from './request-head.ts';

/**
 * Creates a function that returns the client's address: the connection's, or the one that a trusted
 * proxy names in `X-Forwarded-For`, read from the right: a client can write everything to the left.
 *
 * @param trustedProxies - addresses, ranges in CIDR notation, and `unix`; each one is valid
 */
export function createClientAddressOf(trustedProxies: readonly string[]): ClientAddressOf {
  const { BlockList: Ranges, isIP } = loadNet();
  const trusted = new Ranges();
  for (const range of trustedProxies) addRange(trusted, range);
  const trustsUnix = trustedProxies.includes(unix);
  const isTrusted = (address: string | undefined) =>
    address === undefined
      ? trustsUnix
      : trusted.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

  return (peer, head) => {
    let address = peer && plainAddress(peer);
    for (const element of head?.forwardedFor?.split(',').toReversed() ?? []) {
      if (!isTrusted(address)) break;
      const next = addressIn(element.trim());
      // A client may have written what precedes a malformed element.
      if (next === undefined) break;
      address = next;
    }
    return address;
  };
}

/**
 * Returns the address of the client that sent a request on a connection from an address;
 * `undefined` if that is not known. If no head could be read, no proxy can name the client.
 */
export type ClientAddressOf = (
  peer: string | undefined,
  head?: Pick<RequestHead, 'forwardedFor'>,
) => string | undefined;

/** Returns whether a value is an address, a range of them in CIDR notation, or `unix`. */
export function isProxy(value: unknown): boolean {
  if (value === unix) return true;
  return typeof value === 'string' && addRange(new (loadNet().BlockList)(), value);
}

/** Stands for the proxies on a Unix socket, which have no address. */
const unix = 'unix';

/** Loaded for a server on Node only, because every runtime loads the rules of the options. */
function loadNet(): typeof import('node:net') {
  return process.getBuiltinModule('node:net');
}

function addRange(ranges: BlockList, range: string): boolean {
  const [, address = '', length] = rangeForm.exec(range) ?? [];
  const version = loadNet().isIP(address);
  if (version === 0) return false;
  const longest = version === 4 ? 32 : 128;
  const prefix = Number(length ?? longest);
  if (prefix > longest) return false;
  ranges.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}

const rangeForm = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i;

/** Reads an address with or without a port, as proxies write it: `[2001:db8::1]:80`. */
function addressIn(node: string): string | undefined {
  const [, version4, version6] = portForm.exec(node) ?? [];
  const address = version4 ?? version6 ?? node;
  return loadNet().isIP(address) === 0 ? undefined : plainAddress(address);
}

const portForm = /^(?:([\d.]+):\d+|\[([\da-f.:]+)\](?::\d+)?)$/i;

/** The usual form: a socket that listens on `::` shows 192.0.2.1 as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=.*\.)/, '');
}
