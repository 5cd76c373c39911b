import { commonRequestHeaders } from './header-lists.ts';
import type { UpstreamRoute } from './upstream-route.ts';

/**
 * Additional headers that clients of the OpenAI interfaces send. `openai-organization` and `openai-project` are not
 * forwarded: they name accounts of the caller, and the credential belongs to the operator.
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

/**
 * Returns the paths of OpenAI's interfaces below a base address that ends in `/v1`. They are the same at every vendor.
 */
export function locateOpenaiInterface({ dialect, operation }: UpstreamRoute): string | undefined {
  if (operation !== 'generate') return undefined;
  if (dialect === 'openai-responses') return '/responses';
  return dialect === 'openai-chat' ? '/chat/completions' : undefined;
}
