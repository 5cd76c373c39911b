/** Client headers that every vendor may see: who asks, and what retries need. Credentials, cookies and addresses never pass. */
export const commonRequestHeaders: readonly string[] = ['user-agent', 'idempotency-key', 'x-client-request-id', 'x-stainless-*'];

/** Reply headers that clients act on: retry advice, request ids and rate limits. */
export const commonReplyHeaders: readonly string[] = [
  'content-type',
  'cache-control',
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-ratelimit-*',
  'server-timing',
];
