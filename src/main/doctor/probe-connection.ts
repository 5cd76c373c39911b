import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import type { AskLimits } from '../../platform/http/ask-upstream.ts';
import { openTunnel } from '../../platform/http/open-tunnel.ts';
import { explainCertificate, explainTransport } from './explain-failure.ts';
import type { Finding } from './finding.ts';
import type { CheckedUpstream } from './checked-upstream.ts';

/** Certificates that expire sooner are reported; most are renewed a month before. */
const expiryWarningDays = 14;
const dayMs = 86_400_000;

class NoConnectionError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'NoConnectionError';
    this.code = code;
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  // If a name has several addresses and none answers, the reasons are in one error.
  if (error instanceof AggregateError && !('code' in error && error.code)) return codeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Limits a step that does not support a signal. */
async function within<Result>(work: Promise<Result>, { timeoutMs, signal }: AskLimits): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoConnectionError('CONNECT_TIMEOUT', `nothing within ${timeoutMs} ms`)), timeoutMs);
  const onAbort = (): void => reject(new NoConnectionError('ABORTED', 'interrupted'));
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; readonly tookMs: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, tookMs: performance.now() - startedMs };
}

/**
 * The steps of the connection to an upstream, in order, until one fails. The last finding is bad if the upstream is
 * unreachable.
 */
export async function probeConnection(checked: CheckedUpstream, limits: AskLimits, nowMs: number): Promise<readonly Finding[]> {
  const { hostname, port, protocol } = new URL(checked.origin);
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const isSecure = protocol === 'https:';
  const place = { host, port: port === '' ? (isSecure ? 443 : 80) : Number(port) };
  const findings: Finding[] = [];
  const { proxy } = checked;
  const step = async (subject: string, look: () => Promise<string>): Promise<boolean> => {
    try {
      const { result, tookMs } = await timed(look);
      findings.push({ verdict: 'good', subject, says: result, tookMs });
      return true;
    } catch (error) {
      findings.push({ verdict: 'bad', subject, ...explainTransport(codeOf(error), messageOf(error), checked) });
      return false;
    }
  };
  // The proxy resolves names, and the next check uses TLS, so nothing more is probed here.
  if (proxy !== undefined) {
    await step('proxy', async () => {
      const tunnel = await within(openTunnel(proxy, place, limits.timeoutMs), limits);
      tunnel.destroy();
      return `${proxy.origin} connects to ${place.host} port ${place.port}`;
    });
    return findings;
  }
  const resolved = isIP(host) !== 0 || (await step('DNS', () => resolveName(host, limits)));
  if (!resolved) return findings;
  const reached = await step('TCP', async () => {
    const socket = await openSocket(() => connectTcp(place), 'connect', limits);
    socket.destroy();
    return `${place.host} port ${place.port} accepts connections`;
  });
  if (reached && isSecure) findings.push(await probeCertificate(checked, place, limits, nowMs));
  return findings;
}

async function resolveName(host: string, limits: AskLimits): Promise<string> {
  const addresses = await within(lookup(host, { all: true }), limits);
  const shown = addresses.slice(0, 3).map(({ address }) => address);
  return `${host} is ${shown.join(', ')}${addresses.length > shown.length ? ' and others' : ''}`;
}

/** Opens a socket and waits for its ready event. The caller destroys it. */
async function openSocket<Opened extends Socket>(open: () => Opened, ready: string, limits: AskLimits): Promise<Opened> {
  const socket = open();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(ready, () => resolve());
  socket.once('error', reject);
  socket.once('close', () => reject(new NoConnectionError('ECONNRESET', 'the connection was closed')));
  // A later error of the socket must not be unhandled.
  socket.on('error', () => {});
  try {
    await within(promise, limits);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Reads the certificate even if it is refused, so that the reason can be shown. Nothing is sent on this connection. */
async function probeCertificate(
  checked: CheckedUpstream,
  place: { readonly host: string; readonly port: number },
  limits: AskLimits,
  nowMs: number,
): Promise<Finding> {
  const subject = 'TLS';
  const servername = isIP(place.host) === 0 ? { servername: place.host } : {};
  let opened: { readonly result: TLSSocket; readonly tookMs: number };
  try {
    opened = await timed(() =>
      openSocket(
        () => connectTls({ ...place, ...servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false }),
        'secureConnect',
        limits,
      ),
    );
  } catch (error) {
    return { verdict: 'bad', subject, ...explainTransport(codeOf(error), messageOf(error), checked) };
  }
  const { result: socket, tookMs } = opened;
  const certificate = socket.getPeerCertificate();
  const protocol = socket.getProtocol() ?? 'TLS';
  const problem: unknown = socket.authorized ? undefined : socket.authorizationError;
  socket.destroy();
  if (problem !== undefined && problem !== null) {
    // The type is Error, but the library returns only the code.
    const code = typeof problem === 'string' ? problem : codeOf(problem);
    const explained = explainCertificate(code, checked) ?? explainTransport(code, code, checked);
    return { verdict: 'bad', subject, ...explained, tookMs };
  }
  const days = Math.floor((Date.parse(certificate.valid_to) - nowMs) / dayMs);
  const says = `${protocol}, the certificate is good for ${days} more ${days === 1 ? 'day' : 'days'}`;
  if (days >= expiryWarningDays) return { verdict: 'good', subject, says, tookMs };
  return { verdict: 'warning', subject, says, advice: "see that the server's certificate is renewed", tookMs };
}
