import { adviseAboutAzure } from '../advise-about-azure.ts';
import { openaiAudio } from '../audio-service.ts';
import { authorizeWithBearer } from '../authorize-with-bearer.ts';
import { openaiEmbeddingsOf } from '../embedding-interfaces.ts';
import { commonReplyHeaders } from '../header-lists.ts';
import { openaiImagesOf } from '../image-interfaces.ts';
import { openaiRequestHeaders } from '../openai-interfaces.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { basePathAtAzure, locateAtAzure, placeAtAzure } from './azure-paths.ts';
import { traitsOfDeployment } from './traits-of-deployment.ts';

/**
 * Azure OpenAI and the models of Microsoft Foundry, at the v1 interface or at a dated version. A model is a deployment,
 * whose name says nothing: the operator names the model behind it with `is`. Sources: learn.microsoft.com, "v1 API
 * lifecycle"; openai-node, azure.ts and docs/azure.md (November 2026).
 */
export const azure: UpstreamVendor = {
  id: 'azure',
  title: 'Azure OpenAI',
  addressOf: ({ resource }) => (resource === undefined ? undefined : `https://${resource}.openai.azure.com`),
  facts: ['resource', 'apiVersion'],
  basePathOf: basePathAtAzure,
  credentialKinds: ['azure'],
  keyVariables: [],
  dialects: ['openai-responses', 'openai-chat'],
  optionalDialects: [],
  offers: [],
  keepsResponses: true,
  compacts: true,
  locate: locateAtAzure,
  placeService: placeAtAzure,
  services: {
    embeddings: openaiEmbeddingsOf,
    images: openaiImagesOf,
    audio: openaiAudio,
    // Sora 2 is at v1 only.
    videos: 'openai-videos',
  },
  authorize: authorizeWithBearer,
  credentialHeaders: (apiKey) => ({ 'api-key': apiKey }),
  adviseOperator: adviseAboutAzure,
  requestHeaders: openaiRequestHeaders,
  replyHeaders: [...commonReplyHeaders, 'apim-request-id', 'x-ms-region', 'openai-model', 'openai-processing-ms'],
  traitsOf: traitsOfDeployment,
  proofsBelongTo: 'upstream',
  makers: ['openai', 'xai'],
  probePath: '/models',
  keysUrl: 'https://portal.azure.com',
};
