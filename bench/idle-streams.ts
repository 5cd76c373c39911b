import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { apiKey, type Contestant, startBareProxy, startUpstream, startWeirGateway } from './contestants.ts';
import { idleAgentStream, idleStream, type Work } from './works.ts';

/**
 * The memory of an open stream that has sent one event and waits for the next, after a collection of garbage: the
 * growth of the process from some streams to all of them. `node bench/idle-streams.ts`
 */
/** The first streams fill what a process makes once, and take the memory that their requests pass through. */
const firstShare = 0.4;
const batch = 10;

type Memory = Readonly<Record<'rss' | 'heapUsed' | 'external' | 'arrayBuffers' | 'allocated', number>>;
type Start = (preload: string) => Promise<Contestant>;

/** The memory of a contestant that has loaded `tell-memory.ts` with this file. */
export async function readMemory({ signal }: Contestant, file: string): Promise<Memory> {
  rmSync(file, { force: true });
  signal?.('SIGUSR2');
  for (let times = 0; times < 1200 && !existsSync(file); times += 1) await wait(50);
  return JSON.parse(readFileSync(file, 'utf8')) as Memory;
}

function requestOf({ path, body }: Work): string {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${apiKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Opens a stream, and resolves after its first event. */
function openStream(port: number, request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let received = '';
    socket.on('data', (piece) => {
      received += String(piece);
      if (!received.startsWith('HTTP/1.1 200')) reject(new Error(received.slice(0, 500)));
      if (received.includes('data: ')) resolve(socket);
    });
    socket.once('error', reject);
  });
}

async function open(port: number, request: string, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Array.from({ length: Math.min(batch, count - sockets.length) }, () => openStream(port, request));
    sockets.push(...(await Promise.all(next)));
  }
  return sockets;
}

async function measureIdle(work: Work, start: Start): Promise<string> {
  const streams = work.connections;
  const before = streams * firstShare;
  const request = requestOf(work);
  const file = join(mkdtempSync(join(tmpdir(), 'weir-bench-memory-')), 'memory.json');
  const preload = pathToFileURL(join(import.meta.dirname, 'tell-memory.ts'));
  preload.search = encodeURIComponent(file);
  const contestant = await start(preload.href);
  const sockets: Socket[] = [];
  try {
    sockets.push(...(await open(contestant.port, request, before)));
    const few = await readMemory(contestant, file);
    sockets.push(...(await open(contestant.port, request, streams - before)));
    const all = await readMemory(contestant, file);
    const grown = (part: keyof Memory): string => ((all[part] - few[part]) / (streams - before) / 1024).toFixed(1);
    return `| ${[contestant.name, `${Math.round(work.body.length / 1000)} KB`, grown('rss'), grown('heapUsed'), grown('external')].join(' | ')} |`;
  } finally {
    for (const socket of sockets) socket.destroy();
    contestant.stop();
  }
}

/** A table of the contestants on this runtime. */
export async function idleStreamsTable(): Promise<string> {
  const upstream = await startUpstream();
  try {
    return [
      `## ${idleStream.title}`,
      '',
      'After a collection of garbage.',
      '',
      '| | request | KB per stream | of it heap | outside the heap |',
      '|---|---|---|---|---|',
      await measureIdle(idleStream, (preload) => startBareProxy(upstream.port, 'buffered', { preload })),
      await measureIdle(idleStream, (preload) => startWeirGateway(upstream.port, { preload })),
      await measureIdle(idleAgentStream, (preload) => startWeirGateway(upstream.port, { preload })),
      '',
    ].join('\n');
  } finally {
    upstream.stop();
  }
}

if (import.meta.main) console.log(await idleStreamsTable());
