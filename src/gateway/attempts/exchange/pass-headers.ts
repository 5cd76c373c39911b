import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { requestIdHeader } from '../../replies/reply-headers.ts';
import type { Upstream } from '../routing/target.ts';
import { scrubText } from './scrub-credential.ts';

const framing = ['content-length', 'content-encoding', 'transfer-encoding', 'trailer', 'te'];
const handledHere = new Set([...framing, 'connection', 'keep-alive', 'upgrade', 'proxy-authenticate', 'set-cookie']);

/** The upstream's reply headers that may pass to the client, unchanged, and the gateway's own id of the call. */
export function passReplyHeaders(upstream: Upstream, headers: ReplyHeaders, requestId: string): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    // Most do not pass.
    if (value === undefined || !upstream.passesReplyHeader(name) || handledHere.has(name)) continue;
    passed[name] = scrubText(typeof value === 'string' ? value : value.join(', '), upstream.apiKey);
  }
  passed[requestIdHeader] = requestId;
  return passed;
}

/** The reply headers that pass on a translated call, where everything else that a vendor's headers say is said in the client's terms: those that the operator has listed. */
export function forwardReplyHeaders(upstream: Upstream, headers: ReplyHeaders): Record<string, string> {
  const { forwardsReplyHeader: forwards } = upstream;
  if (forwards === undefined) return {};
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !forwards(name) || handledHere.has(name) || name.startsWith('content-')) continue;
    passed[name] = scrubText(typeof value === 'string' ? value : value.join(', '), upstream.apiKey);
  }
  return passed;
}

/** The vendor's own id of the call, for the books. */
export function readUpstreamRequestId(headers: ReplyHeaders, upstream: Pick<Upstream, 'apiKey'>): string | undefined {
  const id = headers['request-id'] ?? headers['x-request-id'];
  return typeof id === 'string' ? scrubText(id, upstream.apiKey).slice(0, 256) : undefined;
}
