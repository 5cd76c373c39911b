/** Client headers that every vendor may see: who asks, and what retries need. Credentials, cookies and addresses never pass. */
export const commonRequestHeaders: readonly string[] = ['user-agent', 'idempotency-key', 'x-client-request-id', 'x-stainless-*'];

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
