import { adviseAboutAzure } from '../advise-about-azure.ts';
import { anthropicInterface } from '../anthropic-interface.ts';
import { authorizeWithBearer } from '../authorize-with-bearer.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';

/**
 * Claude in Microsoft Foundry: Anthropic's interface under `/anthropic` of a resource, with a key or a token of Entra
 * ID. A model is a deployment. There is no list of models. Sources: Anthropic's foundry-sdk (August 2026);
 * platform.claude.com, "Claude in Microsoft Foundry".
 */
export const foundry: UpstreamVendor = {
  ...anthropicInterface,
  id: 'foundry',
  title: 'Claude in Microsoft Foundry',
  addressOf: ({ resource }) => (resource === undefined ? undefined : `https://${resource}.services.ai.azure.com`),
  facts: ['resource'],
  // Operators write the endpoint as the portal shows it, or with the path that an SDK wants.
  basePathOf: (pathname) => `${pathname.replace(/\/+$/, '').replace(/\/anthropic(?:\/v1)?$/, '')}/anthropic`,
  credentialKinds: ['azure'],
  keyVariables: [],
  offers: [],
  authorize: authorizeWithBearer,
  adviseOperator: adviseAboutAzure,
  replyHeaders: [...anthropicInterface.replyHeaders, 'apim-request-id', 'x-ms-region'],
  // Nobody has recorded that the signatures of a resource are valid at another vendor.
  proofsBelongTo: 'vendor',
  makers: ['anthropic'],
  keysUrl: 'https://ai.azure.com',
};
