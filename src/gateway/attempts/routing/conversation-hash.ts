import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';

/**
 * Headers in which agent programs name their session, ours first: Claude Code, Codex, opencode, pi and similar. None of
 * them names a user: the calls of a user are not one conversation.
 */
const sessionHeaders = [
  'x-weir-session',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'conversation_id',
  'x-session-id',
  'x-session-affinity',
] as const;

/** Session ids are short. Hashing more would only cost time. */
const sessionCharactersMax = 256;

/** The hash of a call's conversation. Two users never share one by sending the same, except by chance. */
export function hashConversation(dialect: Pick<ChatDialect, 'readConversation'> | undefined, request: WireRequest, userId: string): number {
  return hashText(readSession(request.headers) ?? dialect?.readConversation(request) ?? '', hashText(userId));
}

function readSession(headers: WireRequest['headers']): string | undefined {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value.slice(0, sessionCharactersMax);
  }
  return undefined;
}

/**
 * Hashes text to an unsigned 32-bit number: MurmurHash3 over pairs of its UTF-16 units. It is not cryptographic: it
 * must spread evenly and be equal in every process. A caller that finds collisions only moves its own calls to one
 * target, and the bound on load ends that.
 */
export function hashText(text: string, start = 0): number {
  let hash = start | 0;
  const { length } = text;
  const even = length & ~1;
  for (let at = 0; at < even; at += 2) {
    let pair = Math.imul(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16), 0xcc9e2d51);
    pair = Math.imul((pair << 15) | (pair >>> 17), 0x1b873593);
    hash ^= pair;
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  if (even < length) {
    const last = Math.imul(text.charCodeAt(even), 0xcc9e2d51);
    hash ^= Math.imul((last << 15) | (last >>> 17), 0x1b873593);
  }
  return mix(hash ^ length);
}

/** The finalizer of MurmurHash3: every bit of the input changes every bit of the result with probability one half. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** An even draw between 0 and 1, both excluded, that is always the same for these two. */
export function drawFor(hash: number, seed: number): number {
  return (mix(hash ^ seed) + 0.5) / 0x1_0000_0000;
}

/**
 * A target's score in weighted rendezvous hashing: the conversation goes to the target with the highest score. Each
 * target wins in proportion to its weight, and removing one moves only its own conversations (Mosharaf et al.: -weight
 * / ln(draw)).
 */
export function scoreOf(draw: number, weight: number): number {
  return -weight / Math.log(draw);
}
