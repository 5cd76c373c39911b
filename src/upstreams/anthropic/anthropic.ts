import { commonReplyHeaders, commonRequestHeaders } from '../header-lists.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { traitsOfClaude } from '../claude-traits.ts';

/** Anthropic's own service. The base address of its SDK is the origin, and the SDK adds `/v1`. */
export const anthropic: UpstreamVendor = {
  id: 'anthropic',
  title: 'Anthropic',
  defaultBaseUrl: 'https://api.anthropic.com',
  keyVariables: ['ANTHROPIC_API_KEY'],
  dialects: ['anthropic-messages'],
  optionalDialects: [],
  offers: ['threads'],
  locate: ({ dialect, operation }) => {
    if (dialect !== 'anthropic-messages') return undefined;
    return operation === 'count-tokens' ? '/v1/messages/count_tokens' : '/v1/messages';
  },
  services: {},
  modelKinds: [{ names: /^claude/, kinds: ['chat'] }],
  credentialHeaders: (apiKey) => ({ 'x-api-key': apiKey }),
  requestHeaders: [...commonRequestHeaders, 'anthropic-*', 'x-app', 'x-claude-code-*', 'x-session-*'],
  // The contract has neutral spellings of these names; the vendor knows only its own.
  headerAliases: { 'vendor-version': 'anthropic-version', 'vendor-beta': 'anthropic-beta' },
  requiredHeaders: { 'anthropic-version': '2023-06-01' },
  // Its SDKs send a key with each retry.
  takesIdempotencyKeys: true,
  replyHeaders: commonReplyHeaders,
  traitsOf: traitsOfClaude,
  proofsBelongTo: 'vendor',
  probePath: '/v1/models',
  keysUrl: 'https://console.anthropic.com/settings/keys',
};
