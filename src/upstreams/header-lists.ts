import { compileHeaderList } from '../platform/http/header-list.ts';

/** Client headers that every vendor may see: who asks, and what its support asks for. Credentials, cookies and addresses never pass. */
export const commonRequestHeaders: readonly string[] = ['user-agent', 'x-client-request-id', 'x-stainless-*'];

/**
 * What is done with client headers that an upstream may take for an identity: of a request, a session, a user or an account.
 *
 * - `never`: goes to no upstream, whatever the configuration says.
 * - `operator`: goes only to upstreams whose `forwardHeaders` name it.
 * - `passes`: goes to the vendors whose clients send it, unchanged.
 *
 * docs/decisions/2026-11-23-client-headers.md gives the reason for each.
 */
export type IdentityDecision = 'never' | 'operator' | 'passes';

/** Names in lower case, or prefixes that end in `*`. */
export const identityHeaders: Readonly<Record<IdentityDecision, readonly string[]>> = {
  never: ['idempotency-*', 'x-idempotency-*', 'authorization', 'proxy-*', 'cookie', 'x-api-key', 'x-goog-api-key'],
  operator: [
    'openai-organization*',
    'openai-project*',
    'openai-user*',
    'anthropic-organization*',
    'anthropic-workspace*',
    'anthropic-user*',
    'x-goog-user-project',
    'x-goog-authenticated-user*',
    'x-goog-iap-*',
    'x-grok-user*',
    'x-user-*',
    'x-tenant*',
    'x-weir-*',
    'x-forwarded-*',
    'x-real-ip',
    'forwarded',
    'from',
  ],
  passes: [
    'user-agent',
    'originator',
    'x-app',
    'x-stainless-*',
    'x-client-request-id',
    'session-id',
    'session_id',
    'thread-id',
    'x-session-*',
    'x-claude-code-*',
    'x-codex-*',
    'x-grok-*',
    'x-goog-api-client',
  ],
};

/**
 * Which headers of clients pass to an upstream.
 * @param own those of its vendor
 * @param forwarded those that the operator names
 */
export function passClientHeaders(own: readonly string[], forwarded: readonly string[] = []): (name: string) => boolean {
  const passesOwn = compileHeaderList(own);
  const needsOperator = compileHeaderList(identityHeaders.operator);
  const passesForwarded = compileHeaderList(forwarded);
  return (name) => (passesOwn(name) && !needsOperator(name)) || passesForwarded(name);
}

/**
 * Reply headers that clients act on: retry advice and request ids. Rate limits and ids of organizations and projects stay here: they tell of the operator's account, which all callers
 * share. `forwardReplyHeaders` of an upstream lets more pass. Decision: docs/decisions/2026-11-23-reply-headers.md.
 */
export const commonReplyHeaders: readonly string[] = [
  'content-type',
  'cache-control',
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'server-timing',
];
