import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/**
 * Headers that reach the gateway. Everything else ends here: cookies, credentials, addresses of the browser, and what
 * concerns one connection.
 */
const requestNames: ReadonlySet<string> = new Set([
  'accept',
  'content-encoding',
  'content-length',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'if-range',
  'range',
  'user-agent',
]);
const requestPrefixes = ['anthropic-', 'openai-', 'x-stainless-', 'x-goog-', 'x-weir-'];
/** Of the console, and credentials. */
const withheld: ReadonlySet<string> = new Set(['x-weir-console', 'x-weir-playground-key', 'x-goog-api-key']);

/** Headers that reach the browser. None of them makes it do something for this site, as `Set-Cookie` would. */
const replyNames: ReadonlySet<string> = new Set([
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'idempotent-replayed',
  'last-modified',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-request-id',
  'x-should-retry',
]);
const replyPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', 'x-weir-'];

const choose = (headers: IncomingHttpHeaders, names: ReadonlySet<string>, prefixes: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const passes = (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) && !withheld.has(name);
      return passes && value !== undefined ? [[name, Array.isArray(value) ? value.join(', ') : value]] : [];
    }),
  );

/** The headers of a request to the gateway, with its key. An encoded answer would have to wait for its decoder. */
export function headersToGateway(headers: IncomingHttpHeaders, secret: string): OutgoingHttpHeaders {
  return { ...choose(headers, requestNames, requestPrefixes), authorization: `Bearer ${secret}`, 'accept-encoding': 'identity' };
}

/** The headers of the gateway's answer for the browser, without its type. */
export function headersToBrowser(headers: IncomingHttpHeaders): Record<string, string> {
  return choose(headers, replyNames, replyPrefixes);
}
