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
        ...nullable(
          object({ scope: { enum: ['user', 'team', 'organization'] }, amount: money, reserved: money }, ['scope', 'amount', 'reserved']),
        ),
        description:
          'The balance that pays: of the user or, if that is not prepaid, of its team or of the organization. Negative if it is overdrawn. A part is reserved for running calls and the next ones. Null: no level is prepaid.',
      },
      limits: {
        type: 'array',
        description:
          'The spend limits of the key, its user, the team of the user and the organization. Reserved is what gateway processes hold for running calls and the next ones: it is not spent, and the next calls may use it.',
        items: object(
          {
            scope: { enum: ['key', 'user', 'team', 'organization'] },
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
    summary: 'The balance that pays for the caller, and the spend limits of all its levels with their current values',
    security: carriers,
    responses: {
      200: { description: 'Balance and limits.', content: content('application/json', ref('Credits')) },
      ...refusals([401, 403, 500, 503], 'Problem'),
    },
  };
}
