import type { DialectId } from '../../../dialects/dialect-id.ts';

/** The dialect whose errors a path answers with, also where there is no route: what lies under an interface's path speaks its dialect. */
export function dialectOfPath(path: string, headers: Readonly<Record<string, string | readonly string[] | undefined>>): DialectId {
  if (/^(?:\/upload)?\/v1(?:alpha|beta)/.test(path) || /^\/v1\/models\/.*(?::|%3a)/i.test(path)) return 'gemini-generate-content';
  if (/^\/v1\/(?:files|vector_stores|receipts|quote|credits)(?:\/|$)/.test(path)) return 'openai-responses';
  if (headers['x-goog-api-key'] !== undefined && path.startsWith('/v1/models')) return 'gemini-generate-content';
  if (path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined || headers['vendor-version'] !== undefined)
    return 'anthropic-messages';
  return path.startsWith('/v1/responses') || path.startsWith('/v1/conversations') ? 'openai-responses' : 'openai-chat';
}
