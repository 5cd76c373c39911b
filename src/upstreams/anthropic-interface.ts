import { traitsOfClaude } from './claude-traits.ts';
import { commonReplyHeaders, commonRequestHeaders } from './header-lists.ts';
import type { UpstreamVendor } from './upstream-vendor.ts';

/** Anthropic's interface at the services that have it as it is: paths, headers and traits. */
export const anthropicInterface = {
  dialects: ['anthropic-messages'],
  optionalDialects: [],
  locate: ({ dialect, operation }) => {
    if (dialect !== 'anthropic-messages') return undefined;
    return operation === 'count-tokens' ? '/v1/messages/count_tokens' : '/v1/messages';
  },
  services: {},
  credentialHeaders: (apiKey) => ({ 'x-api-key': apiKey }),
  requestHeaders: [...commonRequestHeaders, 'anthropic-*', 'x-app', 'x-claude-code-*', 'x-session-*'],
  // The contract has neutral spellings of these names; the vendor knows only its own.
  headerAliases: { 'vendor-version': 'anthropic-version', 'vendor-beta': 'anthropic-beta' },
  requiredHeaders: { 'anthropic-version': '2023-06-01' },
  replyHeaders: commonReplyHeaders,
  traitsOf: traitsOfClaude,
  probePath: '/v1/models',
} satisfies Partial<UpstreamVendor>;
