import { BlockList, isIP } from 'node:net';

/** An IP network: an address and how many of its leading bits count. */
export type Network = { readonly address: string; readonly prefix: number; readonly family: 'ipv4' | 'ipv6' };

/** Reads a network in CIDR notation, or one address, which is a network of one. Undefined when the text is neither. */
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
 * Compiles networks in CIDR notation into a test of addresses. An IPv4 address in its IPv6 spelling (`::ffff:10.0.0.1`), as sockets that listen
 * on both report it, is the IPv4 address. Texts that are no networks are left out, so they match nothing; check them with `parseNetwork` first.
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

/** An address without its zone, and an IPv4 address in its own spelling. */
function plainAddress(address: string): string {
  const zone = address.indexOf('%');
  const bare = zone === -1 ? address : address.slice(0, zone);
  return /^::ffff:[0-9.]+$/i.test(bare) ? bare.slice('::ffff:'.length) : bare;
}
