import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls } from 'node:tls';

import type { AuditEntry, AuditStore } from '../../../audit/audit-entry.ts';
import { otlpLogs, syslogDatagram, syslogFrame } from '../../../audit/sinks/audit-formats.ts';
import type { AuditSink, AuditSinkStore } from '../../../audit/sinks/audit-sink.ts';
import { createAuditForwarder } from '../../../audit/sinks/create-audit-forwarder.ts';
import type { Clock } from '../../../platform/clock.ts';
import { postGuarded } from '../../../platform/http/fetch-guarded.ts';
import type { Logger } from '../../../platform/log.ts';
import type { AuditSinkConfig } from '../../config/audit-schema.ts';
import type { Config } from '../../config/config-schema.ts';

const timeoutMs = 15_000;
const defaultPorts = { udp: 514, tcp: 601, tls: 6514 } as const;

/** Begins to send the audit log to the sinks of the configuration. `opened` ends it. */
export function openAuditSinks(
  parts: {
    readonly store: Pick<AuditStore, 'readAudit'> & AuditSinkStore;
    readonly config: () => Config;
    readonly clock: Clock;
    readonly logger: Logger;
    /** Time between two looks for new rows. */
    readonly everyMs?: number;
  },
  opened: AsyncDisposableStack,
): void {
  const { config, everyMs, ...common } = parts;
  const sinks = (): readonly AuditSink[] => Object.entries(config().audit?.sinks ?? {}).map(([name, sink]) => createSink(name, sink));
  const forwarder = createAuditForwarder({ ...common, sinks, timeoutMs, ...(everyMs === undefined ? {} : { everyMs }) });
  forwarder.start();
  opened.defer(() => forwarder.close());
}

function createSink(name: string, { type, url = '', headers = {}, host = '', port, protocol = 'tcp' }: AuditSinkConfig): AuditSink {
  if (type === 'otlp') return { name, send: (entries, signal) => postLogs(entries, { url, headers, signal }) };
  const server = { host, port: port ?? defaultPorts[protocol] };
  if (protocol === 'udp') return { name, send: (entries) => sendDatagrams(entries, server) };
  return { name, send: (entries, signal) => sendStream(entries, { ...server, isSecure: protocol === 'tls' }, signal) };
}

/** The message of an error has no address, which may contain a credential. */
async function postLogs(
  entries: readonly AuditEntry[],
  { url, headers, signal }: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<void> {
  const status = await postGuarded(url, otlpLogs(entries, { 'service.name': 'weir', 'host.name': hostname() }), {
    lookUp: (name) => lookup(name, { all: true }),
    // The operator has named the collector, which is usually in the same network.
    isAllowed: () => true,
    allowAnyServer: true,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'weir' },
    timeoutMs,
    signal,
  });
  if (status < 200 || status > 299) throw new Error(`the collector answered with status ${status}`);
}

const origin = (): { readonly host: string; readonly pid: number } => ({ host: hostname(), pid: process.pid });

async function sendDatagrams(
  entries: readonly AuditEntry[],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  const { address, family } = await lookup(host);
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  try {
    for (const entry of entries) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      socket.send(syslogDatagram(entry, origin()), port, address, (error) => (error === null ? resolve() : reject(error)));
      await promise;
    }
  } finally {
    socket.close();
  }
}

/**
 * Syslog has no acknowledgement. The rows count as received when the server has closed the connection after our end of
 * it, or has left it open without an error for a moment.
 */
async function sendStream(
  entries: readonly AuditEntry[],
  { host, port, isSecure }: { readonly host: string; readonly port: number; readonly isSecure: boolean },
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const socket: Socket = isSecure ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  const abort = (): void => void socket.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    socket.resume();
    const closed = once(socket, 'close');
    const finished = once(socket, 'finish');
    closed.catch(() => undefined);
    socket.end(Buffer.concat(entries.map((entry) => syslogFrame(entry, origin()))));
    await finished;
    await Promise.race([closed, waitQuietly(lingerMs, signal)]);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

const lingerMs = 2000;

function waitQuietly(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}
