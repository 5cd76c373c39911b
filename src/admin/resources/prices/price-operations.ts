import { Type } from 'typebox';

import { findNamedBook } from '../../../billing/price-books/find-named-book.ts';
import type { PriceBookStore } from '../../../billing/price-books/price-book-store.ts';
import type { PriceDesk } from '../../../billing/price-books/price-desk.ts';
import { modelOfEntry, sourcesOf } from '../../../billing/price-books/price-layers.ts';
import { findNewestBook } from '../../../billing/price-books/publish-prices.ts';
import { readPublishedBook } from '../../../billing/price-books/published-book.ts';
import { dayOf, isDay, listPrices } from '../../../billing/rating/list-prices.ts';
import type { PriceBookData } from '../../../billing/rating/parse-price-book.ts';
import { parsePriceBasis, type PriceBasis } from '../../../billing/rating/price-basis.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { PriceBookEntry } from '../../../billing/rating/price-book-schema.ts';
import { instant, nullable, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';
import { bookSchema, encodeBook } from './price-book-summary.ts';
import { refusePrices } from './price-problem.ts';

export type PriceServices = ListServices & { readonly priceBooks: PriceBookStore; readonly priceDesk: PriceDesk };
type Context = AdminContext<PriceServices>;

const anyObject = (description: string) => Type.Object({}, { additionalProperties: true, description });

const priceSchema = record({
  vendor: Type.String(),
  model: Type.String(),
  layer: Type.String({ description: '`shipped`, `store-4`, or the name of the price file.' }),
  entry: anyObject('The price, as in a price book file.'),
  hides: Type.Array(record({ layer: Type.String(), entries: Type.Array(anyObject('A price that is not used.')) }), {
    description: 'Prices of the same model in lower layers.',
  }),
});

/** @throws AdminProblem `invalid_request` */
function readDay(at: string | undefined, nowMs: number): string {
  if (at === undefined) return dayOf(nowMs);
  if (at === 'all' || isDay(at)) return at;
  const detail = `The query parameter at must be a day such as 2026-12-31, or all; got "${at}".`;
  throw new AdminProblem('invalid_request', detail, { errors: [{ parameter: 'at', code: 'day', detail }] });
}

export const listPricesOfDay = operation({
  id: 'prices.list',
  method: 'GET',
  path: '/prices',
  summary: 'The prices of a day with the layer that each comes from and what it hides, by vendor and model',
  access: 'prices:read',
  query: record({
    at: Type.Optional(Type.String({ maxLength: 10, description: 'A day (UTC) such as 2026-12-31, or all; today unless given.' })),
    vendor: Type.Optional(Type.String({ maxLength: 100 })),
    model: Type.Optional(Type.String({ maxLength: 256, description: 'Models whose name, or another name of theirs, contains this.' })),
    ...pageQuery,
  }),
  reply: record({
    version: Type.String({ description: 'The version of all prices that calls are charged with now, as receipts name it.' }),
    layers: Type.Array(record({ layer: Type.String(), version: Type.String(), entries: Type.Integer() }), {
      description: 'The lowest first: an entry of a model replaces those of the model in all lower layers.',
    }),
    overrides: Type.Array(anyObject('The price of a model in the configuration, which is above all layers.')),
    ...pageSchema(priceSchema).properties,
  }),
  handle: async ({ query }, { services, nowMs }: Context) => {
    const atMs = nowMs();
    const { limit = pageRowsDefault, cursor, vendor, model } = query;
    const day = readDay(query.at, atMs);
    const { layers, book, overrides, prices } = await loadNow(services);
    const question = { list: 'prices', day, vendor, model, version: prices.version };
    const begins = cursor === undefined ? 0 : readPosition(Type.Integer({ minimum: 0 }), services.cursors.read(question, cursor));
    const found = listPrices(book, { vendor, model, day });
    const sources = sourcesOf(layers);
    const items = found.slice(begins, begins + limit).map((entry) => {
      const layer = sources.get(modelOfEntry(entry)) ?? '';
      return { vendor: entry.vendor, model: entry.model, layer, entry: { ...entry }, hides: hiddenBelow(layers, layer, entry) };
    });
    const next_cursor = found.length > begins + limit ? services.cursors.write(question, begins + limit) : null;
    return {
      body: {
        version: prices.version,
        layers: layers.map(({ source, book: { version, entries } }) => ({ layer: source, version, entries: entries.length })),
        overrides: overrides.map((override) => ({ ...override })),
        items,
        next_cursor,
        as_of: instant(atMs),
      },
    };
  },
});

/** The prices of this configuration with the newest published book. */
export async function loadNow({ priceBooks, priceDesk }: Pick<PriceServices, 'priceBooks' | 'priceDesk'>) {
  return priceDesk.load(await findNewestBook(priceBooks));
}

/** The entries of a model in the layers below its own. */
function hiddenBelow(layers: ReturnType<PriceDesk['load']>['layers'], layer: string, entry: PriceBookEntry) {
  const height = layers.findIndex(({ source }) => source === layer);
  return layers.slice(0, Math.max(0, height)).flatMap(({ source, book }) => {
    const entries = book.entries.filter((each) => modelOfEntry(each) === modelOfEntry(entry)).map((each) => ({ ...each }));
    return entries.length === 0 ? [] : [{ layer: source, entries }];
  });
}

export const listBooks = operation({
  id: 'price_books.list',
  method: 'GET',
  path: '/price_books',
  summary: 'The published price books, newest first; the ETag is the number of the newest, 0 if there is none',
  access: 'prices:read',
  query: record(pageQuery),
  reply: pageSchema(bookSchema),
  handle: async ({ query }, { services, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor } = query;
    const question = { list: 'price_books' };
    const before = cursor === undefined ? undefined : readPosition(Type.Integer(), services.cursors.read(question, cursor));
    const newest = await services.priceBooks.newestPriceBook();
    const books = await services.priceBooks.listPriceBooks({ limit: limit + 1, ...(before !== undefined && { before }) });
    const { shown, next_cursor } = cutPage(books, limit, (last) => services.cursors.write(question, last.number));
    return { body: { items: shown.map(encodeBook), next_cursor, as_of: instant(nowMs()) }, version: newest?.number ?? 0 };
  },
});

/** A book by its name, as an operation takes it. @throws AdminProblem `not_found` */
export async function findBook({ services }: Context, name: string): Promise<PriceBookData> {
  const found = await findNamedBook(name, { store: services.priceBooks, desk: services.priceDesk });
  if (found === undefined) throw notFound('price book or price version of this name');
  return found;
}

export const exportBook = operation({
  id: 'prices.export',
  method: 'GET',
  path: '/prices/export',
  summary: 'A whole price book: the prices in force, those of this release, a published book, or those behind a price version',
  access: 'prices:read',
  query: record({
    book: Type.Optional(
      Type.String({ maxLength: 256, description: 'in_force (unless given), shipped, the number of a published book, or a price version.' }),
    ),
  }),
  reply: record({ name: Type.String(), book: anyObject('As a price book file.') }),
  handle: async ({ query }, context: Context) => {
    const name = query.book ?? 'in_force';
    try {
      return { body: { name, book: { ...(await findBook(context, name)) } } };
    } catch (error) {
      return refusePrices(error);
    }
  },
});

const getBook = operation({
  id: 'price_books.get',
  method: 'GET',
  path: '/price_books/{number}',
  summary: 'A published price book, which never changes',
  access: 'prices:read',
  params: record({ number: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) }),
  reply: record({ ...bookSchema.properties, book: anyObject('As a price book file.') }),
  handle: async ({ params }, { services }: Context) => {
    const found = await services.priceBooks.findPriceBook(Number(params.number));
    if (found === undefined) throw notFound('price book of this number');
    return { body: { ...encodeBook(found), book: { ...readPublishedBook(found) } }, version: found.number };
  },
});

export const getVersion = operation({
  id: 'price_versions.get',
  method: 'GET',
  path: '/price_versions/{version}',
  summary: 'All prices behind the price version of a receipt',
  access: 'prices:read',
  params: record({ version: Type.String({ maxLength: 256, examples: ['2026-11-22+store-4+1f2e3d4c'] }) }),
  reply: record({
    version: Type.String(),
    recorded_at: Type.String({ description: 'When it was first in force.' }),
    is_unchanged: Type.Boolean({ description: 'Whether the stored prices have this version when it is computed again.' }),
    book: nullable(anyObject('As a price book file; null if this release cannot read it.')),
    overrides: Type.Array(anyObject('Prices of models in the configuration.')),
    tool_prices: anyObject('Prices of tools.'),
    factors: anyObject('Factors of users and keys.'),
  }),
  handle: async ({ params }, { services }: Context) => {
    const recorded = await services.priceBooks.findRecordedPrices(params.version);
    if (recorded === undefined) throw notFound('price version of this name');
    const { book, overrides = [], toolPrices = {}, factors = {}, isUnchanged } = readBasis(params.version, recorded.basis);
    return {
      body: {
        version: params.version,
        recorded_at: instant(recorded.recordedAtMs),
        is_unchanged: isUnchanged,
        book: book === undefined ? null : { ...book },
        overrides: overrides.map((override) => ({ ...override })),
        tool_prices: { ...toolPrices },
        factors: { ...factors },
      },
    };
  },
});

function readBasis(version: string, text: string): Partial<PriceBasis> & { readonly isUnchanged: boolean } {
  try {
    const basis = parsePriceBasis(text);
    return { ...basis, isUnchanged: createPriceBook(basis).version === version };
  } catch (error) {
    if (error instanceof SyntaxError) return { isUnchanged: false };
    return refusePrices(error);
  }
}

export const priceOperations: readonly Operation<PriceServices>[] = [listPricesOfDay, exportBook, listBooks, getBook, getVersion];
