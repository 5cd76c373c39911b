import type { Endpoint } from '../shared/endpoint.ts';
import { wordingOf } from '../shared/wording.ts';
import type { AccountServices } from './account-services.ts';
import { creditsOperation, creditsSchemas } from './open-api/credits-operations.ts';
import { serveCredits } from './serve-credits.ts';

/** Balance and spend limits of the caller. */
export const creditsEndpoint: Endpoint<AccountServices> = {
  name: 'credits',
  routes: [{ method: 'GET', path: '/v1/credits', openApi: { operation: creditsOperation }, serve: serveCredits }],
  voice: { owns: (path) => /^\/v1\/credits(?:\/|$)/.test(path), wording: () => wordingOf('openai-responses') },
  schemas: creditsSchemas,
};
