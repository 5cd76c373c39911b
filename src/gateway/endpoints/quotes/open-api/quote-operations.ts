import { receiptSchema } from '../../../../billing/receipts/receipt.ts';
import { carriers, content, count, object, orNull, ref, refusals, type Schema, text } from '../../shared/open-api-parts.ts';

const money = ref('Money');
const counts: Schema = { type: 'object', additionalProperties: { type: 'number' }, description: 'Counts, named as in receipts.' };
const bounds = { minimum: money, expected: money, maximum: money };

export const quoteSchemas = {
  Money: object(
    {
      ...(receiptSchema.properties.total.properties as unknown as Readonly<Record<string, Schema>>),
      credits: text('The same amount in the unit of the operator; only if `credit_unit` names one.'),
    },
    ['nano_usd', 'usd'],
  ),
  CreditUnit: {
    ...object({ name: { type: 'string' }, per_usd: text('Units per USD.') }, ['name', 'per_usd']),
    description: 'A unit of the operator in which amounts are shown beside USD. Absent if there is none.',
  },
  QuoteQuestion: object(
    {
      path: text(
        'The path to which the request would be posted, with its query: `/v1/messages`, `/v1beta/models/gemini-2.5-flash:generateContent`.',
      ),
      body: {
        type: 'object',
        description:
          'The body that would be posted. A form with a recording is an object with its fields, and `file` is `{"duration_seconds": 60}` or `{"bytes": 480000}`.',
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
      quoted_at: text('The time of the prices.'),
      currency: { const: 'USD' },
      credit_unit: ref('CreditUnit'),
      price_version: { type: 'string' },
      ...bounds,
      rounds_max: count(
        'The most rounds of the model: more than one if the gateway runs its tools. The maximum covers all rounds and tools.',
      ),
      held: orNull({
        $ref: '#/components/schemas/Money',
        description: 'The amount that is held before the first round; null if the caller has no limit.',
      }),
      allowed: { type: 'boolean', description: 'Whether the caller has credit for the request at this moment.' },
      refusal: orNull({ type: 'object', description: 'Why the caller has no credit for it.', additionalProperties: true }),
      targets: {
        type: 'array',
        items: object(
          {
            upstream: { type: 'string' },
            vendor: { type: 'string' },
            upstream_model: { type: 'string' },
            price_id: orNull(text('The entry of the price book; null if the model has no price.')),
            pricing_parameters: { type: 'object', additionalProperties: { type: 'string' } },
            ...bounds,
            usage: object({ expected: counts, most: counts }, ['expected', 'most']),
            lines: {
              type: 'array',
              items: receiptSchema.properties.rows.items.properties.lines.items as unknown as Schema,
              description: 'The lines of the expected charge.',
            },
            notes: orNull({
              type: 'array',
              items: { type: 'object', additionalProperties: { type: 'string' } },
              description: 'The notes of translating the request; null if they depend on media that the request names.',
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

/** Describes `POST /v1/quote` for OpenAPI. */
export function quoteOperation(): object {
  return {
    summary: 'The lowest, the expected and the highest cost of a request, which is not sent',
    description: 'An error in the body is worded as at its own path.',
    security: carriers,
    requestBody: { required: true, content: content('application/json', ref('QuoteQuestion')) },
    responses: {
      200: {
        description: 'The quote. It is not binding: a call has the price of the moment at which it is accepted.',
        content: content('application/json', ref('Quote')),
      },
      ...refusals([400, 401, 403, 404, 413, 415, 429, 500, 503], 'Problem'),
    },
  };
}
