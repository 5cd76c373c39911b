import { connect } from 'node:net';

import type { RunningWeir } from '../support/start-weir.ts';
import { residentBytes } from '../support/process-memory.ts';

type Address = { readonly port: number; readonly path: string; readonly apiKey?: string };

/** Reads a reply on a socket of its own with the least work per byte. Rejects if the connection fails. */
function readReply({ port, path, apiKey = '' }: Address, onBytes: (bytes: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', onBytes);
    socket.once('error', reject);
    socket.once('close', () => resolve());
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${apiKey}\r\nconnection: close\r\n\r\n`);
  });
}

/** Downloads a file and resolves with its length and the milliseconds that it took. Throws unless the status is 200. */
export async function download(address: Address): Promise<{ readonly bytes: number; readonly ms: number }> {
  const startedMs = performance.now();
  let head: string | undefined;
  let bytes = 0;
  await readReply(address, (chunk) => {
    bytes += chunk.length;
    if (head !== undefined) return;
    head = chunk.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
    bytes -= head.length + 4;
  });
  if (!head?.startsWith('HTTP/1.1 200')) throw new Error(`${address.path}: ${head ?? 'no answer'}`);
  return { bytes, ms: performance.now() - startedMs };
}

/** Follows a video's events to their end. Resolves with their names; `onFirst` is called at the first. */
export async function follow(address: Address, onFirst: () => void): Promise<readonly string[]> {
  let text = '';
  await readReply(address, (chunk) => {
    if (text === '') onFirst();
    text += chunk.toString('latin1');
  });
  return [...text.matchAll(/^event: (\S+)$/gm)].map(([, name = '']) => name);
}

/** Samples the memory of a process until it is stopped. */
export function watchMemory({ process: { pid } }: RunningWeir): {
  readonly stop: () => { readonly startBytes: number; readonly peakBytes: number };
} {
  const startBytes = residentBytes(pid) ?? 0;
  let peakBytes = startBytes;
  const timer = setInterval(() => (peakBytes = Math.max(peakBytes, residentBytes(pid) ?? 0)), 50);
  return {
    stop: () => {
      clearInterval(timer);
      return { startBytes, peakBytes };
    },
  };
}
