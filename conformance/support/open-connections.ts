import { readFileSync } from 'node:fs';

/**
 * Client connections whose end a server has not noticed, as the system counts them (Linux). A client that closes
 * normally is counted until the server has noticed.
 */
export function openConnections(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const open = new RegExp(`^\\s*\\d+: [0-9A-F]+:${port} [0-9A-F]+:[0-9A-F]{4} (?:01|08) `, 'gm');
  return readFileSync('/proc/net/tcp', 'utf8').match(open)?.length ?? 0;
}
