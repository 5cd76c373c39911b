import { receiptSchema } from '../../../../billing/receipts/receipt.ts';
import { carriers, content, object, ref, refusals } from '../../shared/open-api-parts.ts';

export const receiptSchemas = {
  Receipt: receiptSchema,
  ReceiptInProgress: object({ object: { const: 'receipt' }, request_id: { type: 'string' }, status: { const: 'in_progress' } }, [
    'object',
    'request_id',
    'status',
  ]),
};

/** Describes the route of receipts for OpenAPI. */
export function receiptOperation(): object {
  return {
    summary: 'The cost of a call, line by line, for the user whose key made it; docs/reference/receipt.md describes it',
    security: carriers,
    responses: {
      200: {
        description: 'The receipt. It does not change, except that `booked` becomes true.',
        content: content('application/json', ref('Receipt')),
      },
      202: { description: 'The call is still running.', content: content('application/json', ref('ReceiptInProgress')) },
      ...refusals([401, 403, 404, 500, 503], 'Problem'),
    },
  };
}
