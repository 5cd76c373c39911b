import { anthropicInterface } from '../anthropic-interface.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';

/** Anthropic's own service. The base address of its SDK is the origin, and the SDK adds `/v1`. */
export const anthropic: UpstreamVendor = {
  ...anthropicInterface,
  id: 'anthropic',
  title: 'Anthropic',
  defaultBaseUrl: 'https://api.anthropic.com',
  keyVariables: ['ANTHROPIC_API_KEY'],
  offers: ['threads'],
  modelKinds: [{ names: /^claude/, kinds: ['chat'] }],
  // Its SDKs send a key with each retry.
  takesIdempotencyKeys: true,
  proofsBelongTo: 'vendor',
  keysUrl: 'https://console.anthropic.com/settings/keys',
};
