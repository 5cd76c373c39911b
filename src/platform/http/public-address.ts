import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * IPv4 networks that are not the public internet: https://www.iana.org/assignments/iana-ipv4-special-registry (read
 * 2026-11), multicast, and the address at which one cloud serves settings to its virtual machines.
 */
const specialIPv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The only IPv6 network with public addresses. Loopback, mapped, translated and local addresses are outside of it. */
const globalIPv6 = '2000::/3';

/** Its parts that are not public or lead elsewhere: protocol assignments with Teredo, documentation, 6to4. */
const specialIPv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const special = createBlockList(specialIPv4, specialIPv6);
const global = createBlockList([], [globalIPv6]);

/** Whether a text is an IP address of the public internet. False for anything but a plain IPv4 or IPv6 address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  // A zone ("fe80::1%eth0") names an interface of this machine.
  if (!isIPv6(address) || address.includes('%')) return false;
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/**
 * Names that resolve only inside a network: RFC 6761, RFC 6762, RFC 8375, and what routers, clouds and clusters use.
 */
const localName = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa|svc)\.?$/;

/**
 * Whether the address of a medium leads into a private network, or names a file of the machine that reads it. Inline
 * media do not.
 */
export function isPrivateMedium(address: string): boolean {
  if (!/^\s*(?:https?|ftp|file):/i.test(address)) return false;
  return /^\s*file:/i.test(address) || leadsToPrivateNetwork(address.trim());
}

/**
 * Whether a URL leads into a private network, as far as its text shows: a non-public IP address in any spelling that
 * URL parsers accept, a local name, or a name without a dot. Nothing is looked up, so a public name with a private
 * address is not found.
 * @param url false if it has no scheme or cannot be parsed
 */
function leadsToPrivateNetwork(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return false;
  const { hostname } = parsed;
  const isOneLabel = !hostname.startsWith('[') && !hostname.slice(0, -1).includes('.');
  return isOneLabel || isPrivateHost(hostname);
}

/** Whether a host, as `URL.hostname` writes it, is a local name or an IP address that is not public. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIPv4(host) || isIPv6(host)) return !isPublicAddress(host);
  return localName.test(host);
}

function createBlockList(networksV4: readonly string[], networksV6: readonly string[]): BlockList {
  const list = new BlockList();
  const add = (network: string, family: 'ipv4' | 'ipv6'): void => {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  };
  for (const network of networksV4) add(network, 'ipv4');
  for (const network of networksV6) add(network, 'ipv6');
  return list;
}
