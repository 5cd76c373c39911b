import { type Static, Type } from 'typebox';

import { findHidden } from '../../../billing/price-books/price-layers.ts';
import { publishPrices } from '../../../billing/price-books/publish-prices.ts';
import { versionOfBook } from '../../../billing/price-books/published-book.ts';
import { isDay } from '../../../billing/rating/list-prices.ts';
import { parsePriceBook, type PriceBookData } from '../../../billing/rating/parse-price-book.ts';
import { record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { invalidField } from '../../problem.ts';
import { bookSchema, encodeBook } from './price-book-summary.ts';
import type { PriceServices } from './price-operations.ts';
import { refusePrices } from './price-problem.ts';

const noteMax = 500;

/** The terms of a publication, beside its prices. */
export const publicationTerms = {
  from: Type.String({ maxLength: 10, description: 'The first day (UTC) of the new prices, today at the earliest.' }),
  whole: Type.Optional(Type.Boolean({ description: 'From that day on no other model has a price.' })),
  note: Type.Optional(Type.String({ maxLength: noteMax, description: 'Why.' })),
};
const termsSchema = request(publicationTerms);

export const publicationSchema = record({
  ...bookSchema.properties,
  price_version: Type.String({ description: 'The version of all prices with this configuration.' }),
  is_used: Type.Boolean({ description: 'False if this configuration uses its price file alone.' }),
  hidden: Type.Array(record({ layer: Type.String(), models: Type.Array(Type.String()) }), {
    description: 'Models of the book that a layer above it hides with this configuration.',
  }),
});

/** Publishes prices as the next book. @throws AdminProblem `invalid_request`, `version_mismatch`, `conflict` */
export async function publishFor(
  { services, principal, change, expected }: AdminContext<Pick<PriceServices, 'priceBooks' | 'priceDesk'>>,
  prices: PriceBookData,
  { from, whole = false, note }: Static<typeof termsSchema>,
) {
  if (!isDay(from)) throw invalidField('/from', 'day', 'The field from must be a day such as 2026-12-31.');
  const facts = { from, whole, note, actor: principal.author.actor, expectedNewest: expected };
  const desk = { store: services.priceBooks, desk: services.priceDesk };
  const { book, loaded } = await publishPrices(desk, prices, facts, change()).catch(refusePrices);
  const source = versionOfBook(book);
  const hidden = findHidden(loaded.layers).filter((each) => each.source === source);
  return {
    body: {
      ...encodeBook(book),
      price_version: loaded.prices.version,
      is_used: loaded.layers.some((layer) => layer.source === source),
      hidden: hidden.map(({ by, models }) => ({ layer: by, models: [...models] })),
    },
    version: book.number,
    location: `/price_books/${book.number}`,
  };
}

export const publishBook = operation({
  id: 'price_books.publish',
  method: 'POST',
  path: '/price_books',
  summary: 'Publishes prices as the next price book without a draft: all gateways charge them within seconds, from their day on',
  access: 'prices:publish',
  recentSignIn: true,
  keyRequired: true,
  matchRequired: true,
  versionOf: async (_params, services: PriceServices) => (await services.priceBooks.newestPriceBook())?.number ?? 0,
  status: 201,
  bodyBytesMax: 8 * 1024 * 1024,
  body: request({ ...publicationTerms, book: Type.Unknown({ description: 'Prices as a price book file, in JSON.' }) }),
  reply: publicationSchema,
  handle: async ({ body: { book, ...terms } }, context: AdminContext<PriceServices>) => {
    let prices: PriceBookData;
    try {
      prices = parsePriceBook(book);
    } catch (error) {
      return refusePrices(error);
    }
    return await publishFor(context, prices, terms);
  },
});

export const publicationOperations: readonly Operation<PriceServices>[] = [publishBook];
