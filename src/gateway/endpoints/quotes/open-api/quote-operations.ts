import { receiptSchema } from '../../../../billing/receipts/receipt.ts';
import { carriers, content, count, object, orNull, ref, refusals, type Schema, text } from '../../shared/open-api-parts.ts';

const money = ref('Money');
const counts: Schema = { type: 'object', additionalProperties: { type: 'number' }, description: 'Counts, named as in receipts.' };
const bounds = { minimum: money, expected: money, maximum: money };

export const quoteSchemas = {
  Money: object(
    {
      ...(receiptSchema.properties.total.properties as unknown as Readonly<Record<string, Schema>>),
      credits: text('The same in the unit of the operator; only where `credit_unit` names one.'),
    },
    ['nano_usd', 'usd'],
  ),
  CreditUnit: {
    ...object({ name: { type: 'string' }, per_usd: text('How many of it are one USD.') }, ['name', 'per_usd']),
    description: 'A unit of the operator in which amounts are shown beside USD. Absent where there is none.',
  },
  QuoteQuestion: object(
    {
      path: text(
        'Where the request would be posted, its query included: `/v1/messages`, `/v1beta/models/gemini-2.5-flash:generateContent`.',
      ),
      body: {
        type: 'object',
        description:
          'The body that would be posted. Forms of recordings are described as objects with their fields, `file` being `{"duration_seconds": 60}` or `{"bytes": 480000}`.',
      },
    },
    ['path', 'body'],
  ),
  Quote: object(
    {
      object: { const: 'quote' },
      path: { type: 'string' },
      dialect: { type: 'string' },
      requested_model: { type: 'string' },
      quoted_at: text('The prices are those of this moment.'),
      currency: { const: 'USD' },
      credit_unit: ref('CreditUnit'),
      price_version: { type: 'string' },
      ...bounds,
      rounds_max: count(
        'How often the model may be asked: more than once where the gateway runs its tools. The maximum covers all of them, and what their tools may do.',
      ),
      held: orNull({
        $ref: '#/components/schemas/Money',
        description: 'What is held before its model is asked for the first time; null where nothing limits what the caller spends.',
      }),
      allowed: { type: 'boolean', description: 'Whether there is credit for it at this moment.' },
      refusal: orNull({ type: 'object', description: 'Why there is none.', additionalProperties: true }),
      targets: {
        type: 'array',
        items: object(
          {
            upstream: { type: 'string' },
            vendor: { type: 'string' },
            upstream_model: { type: 'string' },
            price_id: orNull(text('The entry of the price book; null where the model has no price.')),
            pricing_parameters: { type: 'object', additionalProperties: { type: 'string' } },
            ...bounds,
            usage: object({ expected: counts, most: counts }, ['expected', 'most']),
            lines: {
              type: 'array',
              items: receiptSchema.properties.rows.items.properties.lines.items as unknown as Schema,
              description: 'What the expected charge comes from.',
            },
            notes: orNull({
              type: 'array',
              items: { type: 'object', additionalProperties: { type: 'string' } },
              description:
                'What translation would adapt, emulate or drop; null where the request names media, without which it is not known.',
            }),
          },
          [
            'upstream',
            'vendor',
            'upstream_model',
            'price_id',
            'pricing_parameters',
            'minimum',
            'expected',
            'maximum',
            'usage',
            'lines',
            'notes',
          ],
        ),
      },
    },
    [
      'object',
      'path',
      'dialect',
      'requested_model',
      'quoted_at',
      'currency',
      'price_version',
      'minimum',
      'expected',
      'maximum',
      'rounds_max',
      'held',
      'allowed',
      'refusal',
      'targets',
    ],
  ),
};

/** Describes the question for a price for OpenAPI. */
export function quoteOperation(): object {
  return {
    summary: 'What a request would cost at least, by the best estimate and at most, without sending it anywhere',
    description: 'What is wrong with the body is answered in the words of its path.',
    security: carriers,
    requestBody: { required: true, content: content('application/json', ref('QuoteQuestion')) },
    responses: {
      200: {
        description: 'The quote. It binds nobody, and the price is that of the moment at which a call is accepted.',
        content: content('application/json', ref('Quote')),
      },
      ...refusals([400, 401, 403, 404, 413, 415, 429, 500, 503], 'Problem'),
    },
  };
}
