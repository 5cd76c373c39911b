import { type Static, Type } from 'typebox';

import type { PriceDraftStore } from '../../../billing/price-books/price-draft.ts';
import { dayOf, isDay } from '../../../billing/rating/list-prices.ts';
import { parsePriceBook } from '../../../billing/rating/parse-price-book.ts';
import type { PriceBook, PricedCall } from '../../../billing/rating/rating.ts';
import { writeLine } from '../../../billing/receipts/build-receipt.ts';
import { isCountName, readCounts } from '../../../billing/receipts/count-names.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { stagePriceBook } from '../../../billing/staging/stage-price-book.ts';
import { moneySchema, nullable, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { invalidField, notFound } from '../../problem.ts';
import { loadNow, type PriceServices } from './price-operations.ts';
import { refusePrices } from './price-problem.ts';

type QuoteServices = PriceServices & { readonly priceDrafts: Pick<PriceDraftStore, 'findPriceDraft'> };
type Context = AdminContext<QuoteServices>;

/** Counts of one call; a sum of many calls would fall into other tiers. */
const countMax = 1_000_000_000;

const quoteSchema = request({
  vendor: Type.String({ minLength: 1, maxLength: 100, examples: ['openai'] }),
  model: Type.String({ minLength: 1, maxLength: 256, description: 'As the upstream names it.' }),
  day: Type.Optional(Type.String({ maxLength: 10, description: 'The day (UTC) of the call; today unless given.' })),
  usage: Type.Record(Type.String({ maxLength: 64 }), Type.Integer({ minimum: 0, maximum: countMax }), {
    description: 'Counts of one call, by the names of receipts: input_tokens, cache_read_tokens, output_tokens.',
    maxProperties: 40,
    examples: [{ input_tokens: 1000, output_tokens: 500 }],
  }),
  service_tier: Type.Optional(Type.String({ maxLength: 64, description: "The tier of the vendor's reply." })),
  parameters: Type.Optional(
    Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 256 }), {
      description: 'Values of the request that the price depends on, by their JSON pointers.',
      maxProperties: 40,
    }),
  ),
});

const chargeSchema = record({
  price_id: nullable(Type.String({ description: 'The entry that prices it; null if nothing of the usage has a price.' })),
  price_version: Type.String(),
  depends_on: Type.Array(Type.String(), { description: 'Values of the request that the price reads, as JSON pointers.' }),
  lines: Type.Array(
    record({
      meter: Type.String(),
      quantity: Type.Integer(),
      unit_price_usd: Type.String(),
      per: Type.Integer(),
      multipliers: Type.Record(Type.String(), Type.String()),
      formula: nullable(Type.String()),
      amount_usd: Type.String({ description: 'Exact.' }),
    }),
  ),
  amount: moneySchema,
});

const dayMs = 86_400_000;

/** The call as the books would price it. @throws AdminProblem `invalid_request` */
function readCall({ vendor, model, day, usage }: Static<typeof quoteSchema>, nowMs: number): PricedCall {
  if (day !== undefined && !isDay(day)) throw invalidField('/day', 'day', 'The field day must be a day such as 2026-12-31.');
  const unknown = Object.keys(usage).find((name) => !isCountName(name));
  if (unknown !== undefined)
    throw invalidField(
      `/usage/${unknown}`,
      'unknown',
      `The field usage has no count "${unknown}"; counts have the names of receipts, such as input_tokens and output_tokens.`,
    );
  const isToday = day === undefined || day === dayOf(nowMs);
  return { vendor, upstreamModel: model, requestedModel: model, acceptedAtMs: isToday ? nowMs : Date.parse(day) + dayMs / 2 };
}

function rate(prices: PriceBook, body: Static<typeof quoteSchema>, nowMs: number): Static<typeof chargeSchema> {
  const call = readCall(body, nowMs);
  const { usage, service_tier: serviceTier, parameters: pricingParameters } = body;
  const charge = prices.rate({ ...call, usage: readCounts(usage), serviceTier, pricingParameters });
  return {
    price_id: charge.priceId ?? null,
    price_version: prices.version,
    depends_on: [...prices.parametersOf(call)],
    lines: charge.lines.map(writeLine).map(({ reversed: _reversed, ...line }) => line),
    amount: formatMoney(charge.amountNanoUsd),
  };
}

const quotePrices = operation({
  id: 'prices.quote',
  method: 'POST',
  path: '/prices/quote',
  summary: 'What a call with given counts costs, line by line, by the prices in force; nothing is called or charged',
  access: 'prices:read',
  body: quoteSchema,
  reply: chargeSchema,
  handle: async ({ body }, { services, nowMs }: Context) => {
    const { prices } = await loadNow(services);
    return { body: rate(prices, body, nowMs()) };
  },
});

const quoteDraft = operation({
  id: 'price_drafts.quote',
  method: 'POST',
  path: '/price_drafts/{id}/quote',
  summary: 'What a call with given counts costs by the prices in force, and by a draft that holds on its day',
  access: 'prices:stage',
  params: record({ id: Type.String({ maxLength: 64 }) }),
  body: quoteSchema,
  reply: record({ in_force: chargeSchema, draft: chargeSchema }),
  handle: async ({ params, body }, { services, nowMs }: Context) => {
    const draft = await services.priceDrafts.findPriceDraft(params.id);
    if (draft === undefined) throw notFound('draft of prices of this id');
    const atMs = nowMs();
    const { book, prices } = await loadNow(services);
    const inForce = rate(prices, body, atMs);
    try {
      const staged = stagePriceBook(book, parsePriceBook(JSON.parse(draft.book)), body.day ?? dayOf(atMs));
      return { body: { in_force: inForce, draft: rate(services.priceDesk.price(staged), body, atMs) } };
    } catch (error) {
      return refusePrices(error);
    }
  },
});

export const quoteOperations: readonly Operation<QuoteServices>[] = [quotePrices, quoteDraft];
