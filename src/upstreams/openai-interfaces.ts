import { commonRequestHeaders } from './header-lists.ts';
import type { UpstreamRoute } from './upstream-vendor.ts';

/**
 * What clients of the OpenAI interfaces send besides. `openai-organization` and `openai-project` stay here: they name accounts of the
 * caller's, and the credential that goes upstream is the operator's.
 */
export const openaiRequestHeaders: readonly string[] = [
  ...commonRequestHeaders,
  'openai-beta',
  'originator',
  'session-id',
  'session_id',
  'thread-id',
  'x-session-id',
  'x-session-affinity',
  'x-codex-*',
];

/** Where OpenAI's interfaces lie, relative to a base address that ends in `/v1`: the same at every vendor that offers them. */
export function locateOpenaiInterface({ dialect, operation }: UpstreamRoute): string | undefined {
  if (operation !== 'generate') return undefined;
  if (dialect === 'openai-responses') return '/responses';
  return dialect === 'openai-chat' ? '/chat/completions' : undefined;
}
