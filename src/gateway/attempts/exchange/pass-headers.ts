import { chatDialects } from '../../../dialects/registry.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { TakenLimits } from '../../admission/limits/reserve-call.ts';
import { requestIdHeader } from '../../replies/write-reply.ts';
import type { Upstream } from '../routing/target.ts';

import type { ReplyRelay } from './reply-relay.ts';

const redaction = '[redacted]';

/** Shorter keys would also match ordinary text. */
const keyCharactersMin = 8;

/**
 * Ids of the operator's account as vendors write them in refusals: "in organization org-…", "(org: <uuid>)", "Your team
 * <uuid>", "project_number:123". All callers share the account, and none of them may know its ids.
 */
const uuid = String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`;
const accountIds = new RegExp(
  String.raw`\b(org-|proj_)[A-Za-z0-9]{8,}|\b(org(?:anization)?:? |team[ /])${uuid}|\b(project_number:|projects/)\d{5,}`,
  'g',
);

/** Removes the operator's key from an answer of a vendor that quotes it. */
export function scrubCredential(text: string, apiKey: string | undefined): string {
  if (apiKey === undefined || apiKey.length < keyCharactersMin) return text;
  return text.includes(apiKey) ? text.replaceAll(apiKey, redaction) : text;
}

/** A vendor's text for a client, without the operator's key and without the ids of its account. */
export function scrubText(text: string, apiKey: string | undefined): string {
  return scrubCredential(text, apiKey).replace(
    accountIds,
    (_id, openai: string | undefined, named: string | undefined, google: string | undefined) =>
      `${openai ?? named ?? google ?? ''}${redaction}`,
  );
}

/** The same for bytes. Returns the same buffer if nothing was removed. */
export function scrubBytes(bytes: Buffer, apiKey: string | undefined): Buffer {
  const text = bytes.toString();
  const scrubbed = scrubText(text, apiKey);
  return scrubbed === text ? bytes : Buffer.from(scrubbed);
}

const framing = ['content-length', 'content-encoding', 'transfer-encoding', 'trailer', 'te'];
const handledHere = new Set([...framing, 'connection', 'keep-alive', 'upgrade', 'proxy-authenticate', 'set-cookie']);

/** The upstream's reply headers that pass to the client unchanged, and the gateway's own id of the call. */
export function passReplyHeaders(upstream: Upstream, headers: ReplyHeaders, requestId: string): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !upstream.passesReplyHeader(name) || handledHere.has(name)) continue;
    passed[name] = scrubText(typeof value === 'string' ? value : value.join(', '), upstream.apiKey);
  }
  passed[requestIdHeader] = requestId;
  return passed;
}

/** The reply headers that pass on a translated call: those that the operator has listed. The others are translated. */
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

/** Whether a header of an upstream describes the limits of the operator's account. */
export function isUpstreamLimit(name: string): boolean {
  return limitHeaders.some((beginning) => name.startsWith(beginning));
}

const limitHeaders: readonly string[] = [...new Set(Object.values(chatDialects).flatMap((dialect) => dialect.limitHeaders))];

/**
 * The same relay, whose replies show the caller's own limits. The remainder of the operator's account is hidden from
 * clients that have limits of ours.
 */
export function withOwnLimits<Piece>(relay: ReplyRelay<Piece>, { headers: own }: TakenLimits): ReplyRelay<Piece> {
  return {
    ...relay,
    replyHeaders: (received) => {
      const passed = relay.replyHeaders(received);
      const headers: Record<string, string> = {};
      for (const name in passed) if (!isUpstreamLimit(name)) headers[name] = passed[name] ?? '';
      return Object.assign(headers, own);
    },
  };
}
