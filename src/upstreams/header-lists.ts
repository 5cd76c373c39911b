import { compileHeaderList } from '../platform/http/header-list.ts';

/**
 * Client headers that every vendor may receive: the client's identification, and headers that vendors' support asks
 * for. Credentials, cookies and addresses are never forwarded.
 */
export const commonRequestHeaders: readonly string[] = ['user-agent', 'x-client-request-id', 'x-stainless-*'];

/**
 * The decision about client headers that could identify a request, a session, a user or an account to an upstream.
 *
 * - `never`: forwarded to no upstream in any configuration.
 * - `operator`: forwarded only to upstreams whose `forwardHeaders` name it.
 * - `passes`: forwarded unchanged to the vendors whose clients send it.
 *
 * docs/decisions/2026-11-23-client-headers.md gives the reason for each.
 */
export type IdentityDecision = 'never' | 'operator' | 'passes';

/** Names in lower case, or prefixes that end in `*`. */
export const identityHeaders: Readonly<Record<IdentityDecision, readonly string[]>> = {
  never: [
    'idempotency-*',
    'x-idempotency-*',
    'authorization',
    'proxy-*',
    'cookie',
    'x-api-key',
    'x-goog-api-key',
    'api-key',
    'x-weir-tags',
  ],
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
 * Selects the client headers that are forwarded to an upstream.
 * @param own the headers of its vendor
 * @param forwarded the headers that the operator names
 */
export function passClientHeaders(own: readonly string[], forwarded: readonly string[] = []): (name: string) => boolean {
  const passesOwn = compileHeaderList(own);
  const needsOperator = compileHeaderList(identityHeaders.operator);
  const passesForwarded = compileHeaderList(forwarded);
  return (name) => (passesOwn(name) && !needsOperator(name)) || passesForwarded(name);
}

/**
 * Reply headers that clients use: retry advice and request ids. Rate limits and ids of organizations and projects are
 * not forwarded, because they describe the operator's account, which all callers share. `forwardReplyHeaders` of an
 * upstream adds more. Decision: docs/decisions/2026-11-23-reply-headers.md.
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
