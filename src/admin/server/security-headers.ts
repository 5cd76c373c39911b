import type { RequestOrigin } from './origin.ts';

/** Headers of every answer (requirement S5). Pages have their own policy, with a nonce for the editor's style. */
const always: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'permissions-policy': 'microphone=(self)',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** A year: browsers use https only. */
const strictTransport = 'max-age=31536000';

export function securityHeaders(origin: RequestOrigin | undefined): Record<string, string> {
  return { ...always, ...(origin?.isHttps === true && { 'strict-transport-security': strictTransport }) };
}
