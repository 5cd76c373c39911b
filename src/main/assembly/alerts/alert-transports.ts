import { lookup } from 'node:dns/promises';

import type { Transporter } from 'nodemailer';

import { DeliveryError, type NoticeTransports } from '../../../alerts/notices/send-notice.ts';
import { AskError, askUpstream } from '../../../platform/http/ask-upstream.ts';
import { postGuarded } from '../../../platform/http/fetch-guarded.ts';
import { FetchMediaError } from '../../../platform/http/fetch-media-error.ts';
import { isPublicAddress } from '../../../platform/http/public-address.ts';
import { untilAborted } from '../../../platform/until-aborted.ts';
import type { EnvironmentProxies } from '../../egress/environment-proxies.ts';
import { proxyFor } from '../../egress/environment-proxies.ts';
import { openClient } from '../../egress/open-client.ts';

const timeoutMs = 15_000;
const headerBytesMax = 16_384;
const tlsPhrase = /certificate|self.signed|tls|ssl/i;

/** The ways of messages out of this process: HTTP, through the proxies of the environment if they are set, and SMTP. */
export function createAlertTransports(proxies: EnvironmentProxies): NoticeTransports {
  return { post: (request) => post(request, proxies), mail: sendMail };
}

const commonHeaders = { 'content-type': 'application/json', 'user-agent': 'weir' };

async function post(request: Parameters<NoticeTransports['post']>[0], proxies: EnvironmentProxies): Promise<number> {
  const { url, body, privateAddresses, signal } = request;
  const headers = { ...commonHeaders, ...request.headers };
  try {
    if (proxyFor(new URL(url).origin, proxies) !== undefined)
      return await postThroughProxy(new URL(url), { body, headers, signal }, proxies);
    return await postGuarded(url, body, {
      lookUp: (hostname) => lookup(hostname, { all: true }),
      isAllowed: (address) => privateAddresses || isPublicAddress(address),
      allowAnyServer: privateAddresses,
      allowAnyPort: true,
      headers,
      timeoutMs,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw describeFailure(error);
  }
}

/** The proxy looks the host up, so that its address cannot be checked here: the operator has named it. */
async function postThroughProxy(
  url: URL,
  { body, headers, signal }: { readonly body: string; readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  proxies: EnvironmentProxies,
): Promise<number> {
  const client = openClient({ origin: url.origin, connectTimeoutMs: timeoutMs, headerBytesMax }, {}, proxies);
  try {
    const request = { path: url.pathname + url.search, method: 'POST', headers, body: Buffer.from(body) } as const;
    return (await askUpstream(client, request, { timeoutMs, signal })).status;
  } finally {
    await client.close();
  }
}

function describeFailure(cause: unknown): DeliveryError {
  if (cause instanceof FetchMediaError && cause.problem === 'forbidden-host')
    return new DeliveryError("the receiver's host has no public internet address", { cause });
  if (cause instanceof AskError && cause.code === 'TIMEOUT') return new DeliveryError('the receiver did not answer in time', { cause });
  return new DeliveryError('the receiver cannot be reached', { cause });
}

/** Sends a mail. The library is loaded with the first one. */
const sendMail: NoticeTransports['mail'] = async ({ server, from, to }, { id, subject, text, signal }) => {
  const { createTransport } = await import('nodemailer');
  const { host, port, security, user, password } = server;
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === undefined || password === undefined ? {} : { auth: { user, pass: password } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    // The same id on every attempt, so that mail programs recognise repetitions.
    const domain = /@([^>]+)>?$/.exec(from)?.[1] ?? 'weir.invalid';
    const headers = { 'Auto-Submitted': 'auto-generated' };
    await untilAborted(transport.sendMail({ from, to: [...to], subject, text, messageId: `<${id}@${domain}>`, headers }), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw describeMailFailure(error);
  } finally {
    close(transport);
  }
};

function close(transport: Pick<Transporter, 'close'>): void {
  transport.close();
}

function describeMailFailure(cause: unknown): DeliveryError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const status = cause instanceof Error && 'responseCode' in cause ? cause.responseCode : undefined;
  const answered = typeof status === 'number' ? ` (${status})` : '';
  if (code === 'EAUTH') return new DeliveryError(`the mail server refuses the credential${answered}`, { cause });
  if (code === 'EENVELOPE') return new DeliveryError(`the mail server refuses the sender or a recipient${answered}`, { cause });
  if (code === 'ETLS' || (cause instanceof Error && tlsPhrase.test(cause.message)))
    return new DeliveryError('the connection to the mail server cannot be encrypted', { cause });
  return typeof status === 'number'
    ? new DeliveryError(`the mail server answered with status ${status}`, { cause })
    : new DeliveryError('the mail server cannot be reached', { cause });
}
