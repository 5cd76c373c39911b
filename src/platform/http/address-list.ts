import { BlockList, isIP } from 'node:net';

/** An IP network: an address, and the number of its leading bits that count. */
export type Network = { readonly address: string; readonly prefix: number; readonly family: 'ipv4' | 'ipv6' };

/** Reads a network in CIDR notation, or a single address. Undefined if the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/');
  const address = slash === -1 ? text : text.slice(0, slash);
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = slash === -1 ? bits : readPrefix(text.slice(slash + 1));
  if (prefix === undefined || prefix > bits) return undefined;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

function readPrefix(digits: string): number | undefined {
  return /^(?:0|[1-9][0-9]{0,2})$/.test(digits) ? Number(digits) : undefined;
}

/**
 * Compiles networks in CIDR notation into a test of addresses. Sockets that listen on both families report an IPv4
 * address in its IPv6 spelling (`::ffff:10.0.0.1`); it counts as the IPv4 address. Texts that are not networks match
 * nothing; check them with `parseNetwork` first.
 */
export function compileAddressList(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const plain = plainAddress(address);
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** The address without its zone. An IPv4 address in IPv6 spelling becomes plain IPv4. */
function plainAddress(address: string): string {
  const zone = address.indexOf('%');
  const bare = zone === -1 ? address : address.slice(0, zone);
  return /^::ffff:[0-9.]+$/i.test(bare) ? bare.slice('::ffff:'.length) : bare;
}
