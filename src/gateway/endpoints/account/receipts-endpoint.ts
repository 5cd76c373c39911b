import type { Endpoint } from '../shared/endpoint.ts';
import { wordingOf } from '../shared/wording.ts';
import type { AccountServices } from './account-services.ts';
import { receiptOperation, receiptSchemas } from './open-api/receipt-operations.ts';
import { serveReceipt } from './serve-receipt.ts';

/** Costs of calls with their reasons. */
export const receiptsEndpoint: Endpoint<AccountServices> = {
  name: 'receipts',
  routes: [
    {
      method: 'GET',
      path: '/v1/receipts/:id',
      openApi: { operation: receiptOperation },
      serve: (services, http, { params }) => serveReceipt(services, http, params['id'] ?? ''),
    },
  ],
  voice: { owns: (path) => /^\/v1\/receipts(?:\/|$)/.test(path), wording: () => wordingOf('openai-responses') },
  schemas: receiptSchemas,
};
