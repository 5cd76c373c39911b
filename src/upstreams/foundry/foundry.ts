import { anthropic } from '../anthropic/anthropic.ts';
import { authorizeWithBearer } from '../authorize-with-bearer.ts';
import { adviseAboutAzure } from '../azure/advise-about-azure.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';

/**
 * Claude in Microsoft Foundry: Anthropic's interface under `/anthropic` of a resource, with a key or a token of Entra
 * ID. A model is a deployment. There is no list of models. Sources: Anthropic's foundry-sdk (August 2026);
 * platform.claude.com, "Claude in Microsoft Foundry".
 */
export const foundry: UpstreamVendor = {
  id: 'foundry',
  title: 'Claude in Microsoft Foundry',
  addressOf: ({ resource }) => (resource === undefined ? undefined : `https://${resource}.services.ai.azure.com`),
  facts: ['resource'],
  // Operators write the endpoint as the portal shows it, or with the path that an SDK wants.
  basePathOf: (pathname) => `${pathname.replace(/\/+$/, '').replace(/\/anthropic(?:\/v1)?$/, '')}/anthropic`,
  credentialKinds: ['azure'],
  keyVariables: [],
  dialects: anthropic.dialects,
  optionalDialects: [],
  offers: [],
  locate: anthropic.locate,
  services: {},
  authorize: authorizeWithBearer,
  credentialHeaders: anthropic.credentialHeaders,
  adviseOperator: adviseAboutAzure,
  requestHeaders: anthropic.requestHeaders,
  headerAliases: { ...anthropic.headerAliases },
  requiredHeaders: { ...anthropic.requiredHeaders },
  replyHeaders: [...anthropic.replyHeaders, 'apim-request-id', 'x-ms-region'],
  traitsOf: anthropic.traitsOf,
  // Nobody has recorded that the signatures of one resource are valid at another vendor.
  proofsBelongTo: 'vendor',
  makers: ['anthropic'],
  probePath: '/v1/models',
  keysUrl: 'https://ai.azure.com',
};
