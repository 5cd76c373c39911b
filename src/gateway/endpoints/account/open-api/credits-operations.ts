import { carriers, content, object, ref, refusals, type Schema } from '../../shared/open-api-parts.ts';

const money = ref('Money');
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export const creditsSchemas = {
  Credits: object(
    {
      object: { const: 'credits' },
      user: { type: 'string' },
      key: { type: 'string' },
      currency: { const: 'USD' },
      credit_unit: ref('CreditUnit'),
      balance: {
        ...nullable(object({ amount: money, reserved: money }, ['amount', 'reserved'])),
        description:
          'The balance of a prepaid user, negative if it is overdrawn, and the part that is reserved for running calls and the next ones. Null: not prepaid.',
      },
      limits: {
        type: 'array',
        description: 'The spend limits of the key and of its user.',
        items: object(
          {
            scope: { enum: ['key', 'user'] },
            period: { enum: ['day', 'month', 'total'], description: 'Calendar days and months in UTC.' },
            limit: money,
            spent: money,
            reserved: money,
            resets_at: nullable({ type: 'string', format: 'date-time' }),
          },
          ['scope', 'period', 'limit', 'spent', 'reserved', 'resets_at'],
        ),
      },
    },
    ['object', 'user', 'key', 'currency', 'balance', 'limits'],
  ),
};

/** Describes `GET /v1/credits` for OpenAPI. */
export function creditsOperation(): object {
  return {
    summary: 'The balance of the caller, and the spend limits of its key and its user with their current values',
    security: carriers,
    responses: {
      200: { description: 'Balance and limits.', content: content('application/json', ref('Credits')) },
      ...refusals([401, 403, 500, 503], 'Problem'),
    },
  };
}
