import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Returns whether a server that listens on an IP address can be reached from this machine only. */
export const isLoopback = (address: string): boolean =>
  loopback.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
