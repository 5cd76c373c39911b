import { type Static, Type } from 'typebox';

import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { DraftReader } from '../../../billing/price-books/draft-reader.ts';
import { type PriceDraft, priceDraftsMax, type PriceDraftStore, type PriceDraftSummary } from '../../../billing/price-books/price-draft.ts';
import { modelOfEntry } from '../../../billing/price-books/price-layers.ts';
import { diffPriceBooks } from '../../../billing/rating/diff-price-books.ts';
import { importFormats } from '../../../billing/rating/import/import-prices.ts';
import { dayOf, isDay } from '../../../billing/rating/list-prices.ts';
import { mergePriceBooks } from '../../../billing/rating/merge-price-books.ts';
import { parsePriceBook, type PriceBookData } from '../../../billing/rating/parse-price-book.ts';
import { instant, nullable, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import { findBook, loadNow, type PriceServices } from './price-operations.ts';
import { publicationSchema, publicationTerms, publishFor } from './publish-operation.ts';
import { refusePrices } from './price-problem.ts';

export type PriceDraftServices = PriceServices & {
  readonly priceDrafts: PriceDraftStore;
  readonly draftReader: Pick<DraftReader, 'read'>;
  readonly audit: Pick<AuditStore, 'subjectVersion'>;
  readonly newId: (prefix: string) => string;
};
type Context = AdminContext<PriceDraftServices>;

/** A price list of another program has some megabytes. */
const bodyBytesMax = 8 * 1024 * 1024;
const noteMax = 500;
const changesMax = 5000;

const summaryMembers = {
  id: Type.String({ examples: ['pd_01k9x2m4vq3f7c8d5e6h1j0abc'] }),
  name: Type.String(),
  note: nullable(Type.String()),
  actor: Type.String({ description: 'The author.' }),
  created_at: Type.String(),
  changed_at: Type.String(),
};
const summarySchema = record(summaryMembers, 'Prices that charge nothing until they are published.');
const draftMembers = { ...summaryMembers, book: Type.Object({}, { additionalProperties: true, description: 'As a price book file.' }) };
const draftSchema = record(draftMembers);

const encodeSummary = (draft: PriceDraftSummary): Static<typeof summarySchema> => ({
  id: draft.id,
  name: draft.name,
  note: draft.note ?? null,
  actor: draft.actor,
  created_at: instant(draft.createdAtMs),
  changed_at: instant(draft.changedAtMs),
});

const params = record({ id: Type.String({ maxLength: 64 }) });
const subject = ({ id }: Readonly<Record<string, string>>): string => `price_draft:${id ?? ''}`;

/** @throws AdminProblem `not_found` */
async function findDraft({ services }: Context, id: string): Promise<PriceDraft> {
  const draft = await services.priceDrafts.findPriceDraft(id);
  if (draft === undefined) throw notFound('draft of prices of this id');
  return draft;
}

async function show(context: Context, id: string): Promise<Answer<Static<typeof draftSchema>>> {
  const version = await context.services.audit.subjectVersion(subject({ id }));
  const draft = await findDraft(context, id);
  return { body: { ...encodeSummary(draft), book: { ...parsePriceBook(JSON.parse(draft.book)) } }, version };
}

const listDrafts = operation({
  id: 'price_drafts.list',
  method: 'GET',
  path: '/price_drafts',
  summary: `Drafts of prices, newest first; there are at most ${priceDraftsMax}`,
  access: 'prices:stage',
  reply: pageSchema(summarySchema),
  handle: async (_input, { services, nowMs }: Context) => {
    const items = (await services.priceDrafts.listPriceDrafts()).map(encodeSummary);
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

const getDraft = operation({
  id: 'price_drafts.get',
  method: 'GET',
  path: '/price_drafts/{id}',
  summary: 'A draft with its prices',
  access: 'prices:stage',
  params,
  reply: draftSchema,
  handle: ({ params: { id } }, context: Context) => show(context, id),
});

const name = Type.String({ minLength: 1, maxLength: 200 });
const contentMembers = {
  book: Type.Optional(Type.Unknown({ description: 'Prices as JSON: a price book or a list of another program.' })),
  text: Type.Optional(Type.String({ description: 'The same as the text of a file in YAML or JSON.' })),
  format: Type.Optional(Type.Enum(['auto', 'book', ...importFormats], { description: 'auto, unless given: recognised from the content.' })),
  vendor: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'The vendor of every model of an imported list.' })),
  since: Type.Optional(Type.String({ maxLength: 10, description: 'First day of imported prices that name none; today unless given.' })),
};
const readSchema = record({
  ...draftMembers,
  format: Type.Enum(['book', ...importFormats]),
  not_carried: Type.Array(Type.String(), { description: 'What could not be imported, each with its place; at most 1,000.' }),
});
const contentSchema = request(contentMembers);

/** Reads the prices of a request in a thread. @throws AdminProblem `invalid_request` with all problems */
async function readContent({ services, principal, signal, nowMs }: Context, content: Static<typeof contentSchema>) {
  const { book, text, format = 'auto', vendor, since = dayOf(nowMs()) } = content;
  if ((book === undefined) === (text === undefined))
    throw new AdminProblem('invalid_request', 'Give exactly one of the fields book and text.');
  if (!isDay(since)) throw invalidField('/since', 'day', 'The field since must be a day such as 2026-12-31.');
  const draft = { text: text ?? JSON.stringify(book), format, vendor, since, checked: dayOf(nowMs()) };
  return await services.draftReader.read(draft, principal.author.actor, signal).catch(refusePrices);
}

const notCarriedMax = 1000;

export const createDraft = operation({
  id: 'price_drafts.create',
  method: 'POST',
  path: '/price_drafts',
  summary: 'Keeps prices as a draft: a price book, or a list of LiteLLM, genai-prices or new-api; names every problem',
  access: 'prices:stage',
  status: 201,
  bodyBytesMax,
  body: request({ name, note: Type.Optional(Type.String({ maxLength: noteMax })), ...contentMembers }),
  reply: readSchema,
  handle: async ({ body }, context: Context) => {
    const { services, principal, change } = context;
    const { json, format, notCarried } = await readContent(context, body);
    const now = change();
    const id = services.newId('pd');
    const { name: given, note } = body;
    const draft = { id, name: given, book: json, createdAtMs: now.atMs, changedAtMs: now.atMs, actor: principal.author.actor };
    if (!(await services.priceDrafts.insertPriceDraft(note === undefined ? draft : { ...draft, note }, now)))
      throw new AdminProblem('conflict', `There are ${priceDraftsMax} drafts already: delete some.`);
    const shown = await show(context, id);
    const body201 = { ...shown.body, format, not_carried: notCarried.slice(0, notCarriedMax) };
    return { ...shown, body: body201, location: `/price_drafts/${id}` };
  },
});

const updateDraft = operation({
  id: 'price_drafts.update',
  method: 'PATCH',
  path: '/price_drafts/{id}',
  summary: 'Changes the name, the note or the prices of a draft',
  access: 'prices:stage',
  bodyBytesMax,
  subject,
  params,
  body: request({ name: Type.Optional(name), note: Type.Optional(nullable(Type.String({ maxLength: noteMax }))), ...contentMembers }),
  reply: draftSchema,
  handle: async ({ params: { id }, body }, context: Context) => {
    await findDraft(context, id);
    const { name: given, note, ...content } = body;
    const hasContent = Object.keys(content).length > 0;
    const edit = {
      ...(given !== undefined && { name: given }),
      ...(note !== undefined && { note }),
      ...(hasContent && { book: (await readContent(context, content)).json }),
    };
    if (!(await context.services.priceDrafts.changePriceDraft(id, edit, context.change()))) throw notFound('draft of prices of this id');
    return await show(context, id);
  },
});

export const deleteDraft = operation({
  id: 'price_drafts.delete',
  method: 'DELETE',
  path: '/price_drafts/{id}',
  summary: 'Deletes a draft',
  access: 'prices:stage',
  status: 204,
  subject,
  params,
  handle: async ({ params: { id } }, context: Context): Promise<Answer<undefined>> => {
    if (!(await context.services.priceDrafts.deletePriceDraft(id, context.change()))) throw notFound('draft of prices of this id');
    return { body: undefined };
  },
});

const diffDraft = operation({
  id: 'price_drafts.diff',
  method: 'POST',
  path: '/price_drafts/{id}/diff',
  summary: 'Every price that the draft would change, add or remove',
  access: 'prices:stage',
  params,
  body: request({
    base: Type.Optional(
      Type.String({ maxLength: 256, description: 'in_force (unless given), shipped, the number of a published book, or a price version.' }),
    ),
    whole: Type.Optional(Type.Boolean({ description: 'The draft replaces the base instead of extending it.' })),
  }),
  reply: record({
    changes: Type.Array(
      record({
        entry: Type.String({ examples: ['openai/gpt-5@2025-08-07'] }),
        member: Type.String({ description: 'Empty for the whole entry.' }),
        before: nullable(Type.String()),
        after: nullable(Type.String()),
      }),
      { description: `At most ${changesMax}.` },
    ),
    is_complete: Type.Boolean(),
    hidden: Type.Array(record({ layer: Type.String(), models: Type.Array(Type.String()) }), {
      description: 'Models of the draft that a layer above published books would hide with this configuration.',
    }),
  }),
  handle: async ({ params: { id }, body }, context: Context) => {
    const draft = parsePriceBook(JSON.parse((await findDraft(context, id)).book));
    try {
      const base = await findBook(context, body.base ?? 'in_force');
      const changes = diffPriceBooks(base, body.whole === true ? draft : mergePriceBooks(base, draft));
      const shown = changes.slice(0, changesMax).map(({ entry, member, before, after }) => ({
        entry,
        member,
        before: before ?? null,
        after: after ?? null,
      }));
      return { body: { changes: shown, is_complete: shown.length === changes.length, hidden: await hiddenAbove(context, draft) } };
    } catch (error) {
      return refusePrices(error);
    }
  },
});

/** Models of a draft for which the file of this configuration has prices of its own. */
async function hiddenAbove({ services }: Context, draft: PriceBookData) {
  const models = new Set(draft.entries.map(modelOfEntry));
  const { layers } = await loadNow(services);
  return layers
    .filter(({ source }) => source !== 'shipped' && !/^store-\d+$/.test(source))
    .map(({ source, book }) => ({
      layer: source,
      models: [...new Set(book.entries.map(modelOfEntry))].filter((model) => models.has(model)),
    }))
    .filter(({ models: hidden }) => hidden.length > 0);
}

const publishDraft = operation({
  id: 'price_drafts.publish',
  method: 'POST',
  path: '/price_drafts/{id}/publish',
  summary: 'Publishes a draft as the next price book: all gateways charge it within seconds, from its day on',
  access: 'prices:publish',
  recentSignIn: true,
  keyRequired: true,
  matchRequired: true,
  versionOf: async (_params, services: PriceDraftServices) => (await services.priceBooks.newestPriceBook())?.number ?? 0,
  status: 201,
  params,
  body: request(publicationTerms),
  reply: publicationSchema,
  handle: async ({ params: { id }, body }, context: Context) => {
    const draft = parsePriceBook(JSON.parse((await findDraft(context, id)).book));
    return await publishFor(context, draft, body);
  },
});

export const priceDraftOperations: readonly Operation<PriceDraftServices>[] = [
  listDrafts,
  createDraft,
  getDraft,
  updateDraft,
  deleteDraft,
  diffDraft,
  publishDraft,
];
