import { BlockList, isIP } from 'node:net';
import type { RequestHead } from './request-head.ts';

/**
 * Returns the address of the client that sent a request on a connection from an address; `undefined`
 * where that is not known. Where no head could be read, no proxy can name the client.
 */
export type ClientAddressOf = (
  peer: string | undefined,
  head?: Pick<RequestHead, 'forwarded' | 'forwardedFor'>,
) => string | undefined;

const noFields = { forwarded: undefined, forwardedFor: undefined };

const mapped = '::ffff:';

/** The usual form: a socket that listens on `::` shows 192.0.2.1 as `::ffff:192.0.2.1`. */
const plainAddress = (address: string): string =>
  address.startsWith(mapped) && address.includes('.') ? address.slice(mapped.length) : address;

const rangeForm = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i;

const addRange = (ranges: BlockList, range: string): boolean => {
  const [, address = '', length] = rangeForm.exec(range) ?? [];
  const version = isIP(address);
  if (version === 0) return false;
  const longest = version === 4 ? 32 : 128;
  const prefix = Number(length ?? longest);
  if (prefix > longest) return false;
  ranges.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return true;
};

/** Whether a text is an address, or a range of them in CIDR notation. */
export const isAddressRange = (text: string): boolean => addRange(new BlockList(), text);

/** An address with or without a port, as proxies write it (RFC 7239 §6): `192.0.2.1:80`, `[2001:db8::1]:80`. */
const nodeForm = /^(?:([\d.]+)(?::\d+)?|\[([\da-f.:]+)\](?::\d+)?|([\da-f.:]+))$/i;

const addressIn = (node: string): string | undefined => {
  const [, version4, bracketed, bare] = nodeForm.exec(node) ?? [];
  const address = version4 ?? bracketed ?? bare ?? '';
  return isIP(address) === 0 ? undefined : plainAddress(address);
};

const forPair = /^for=(?:"([^"\\]*)"|([^"]*))$/i;

/** The address in an element of `Forwarded`, such as `for=192.0.2.1;proto=https`. */
const addressInForwarded = (element: string): string | undefined => {
  const nodes = element.split(';').flatMap((pair) => forPair.exec(pair.trim())?.slice(1) ?? []);
  const [node, ...others] = nodes.filter((one) => one !== undefined);
  return node === undefined || others.length > 0 ? undefined : addressIn(node);
};

/**
 * Creates a function that returns the client's address: the connection's, unless that is of a trusted proxy, which names
 * its client in `Forwarded` or `X-Forwarded-For`. The fields are read from the right, because a client can write what stands further left.
 *
 * @param trustedProxies - addresses, and ranges in CIDR notation; each one is valid
 */
export const createClientAddressOf = (trustedProxies: readonly string[]): ClientAddressOf => {
  if (trustedProxies.length === 0) return (peer) => peer && plainAddress(peer);
  const trusted = new BlockList();
  for (const range of trustedProxies) addRange(trusted, range);
  const isTrusted = (address: string): boolean =>
    trusted.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

  const walk = (
    peer: string,
    list: string | undefined,
    read: (element: string) => string | undefined,
  ): string => {
    let address = peer;
    for (const element of list?.split(',').toReversed() ?? []) {
      if (!isTrusted(address)) break;
      const next = read(element.trim());
      // What stands before a malformed element may be the client's invention.
      if (next === undefined) break;
      address = next;
    }
    return address;
  };

  return (connectionAddress, { forwarded, forwardedFor } = noFields) => {
    const peer = connectionAddress && plainAddress(connectionAddress);
    if (peer === undefined || !isTrusted(peer)) return peer;
    const byForwarded = walk(peer, forwarded, addressInForwarded);
    const byForwardedFor = walk(peer, forwardedFor, addressIn);
    if (forwarded === undefined) return byForwardedFor;
    if (forwardedFor === undefined) return byForwarded;
    // The proxy writes one of them, and the client may have written the other.
    return byForwarded === byForwardedFor ? byForwarded : peer;
  };
};
