import { type Static, Type } from 'typebox';

import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import type { DescribedModel } from '../../../control/nodes/node-state.ts';
import { instant, moneySchema, nullable, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { type CallModelServices, chatInterfaces, explainModel } from './explain-model.ts';
import { testModel } from './test-model.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';
import { readPosition } from '../read-position.ts';
import { sumLastDay, sumModelDay } from './last-day.ts';
import { listNamed } from './list-named.ts';
import type { UsageServices } from '../usage/usage-operations.ts';
import { cutPage } from '../cut-page.ts';
import { booksOperation } from '../books-operation.ts';

type ModelServices = ControlServices & ListServices & UsageServices & CallModelServices;
type Context = AdminContext<ModelServices>;

const optionalLimit = nullable(Type.Integer());

const modelMembers = {
  name: Type.String({ description: 'As clients ask for it. With `*` at the end it is the beginning of names.' }),
  is_named: Type.Boolean({ description: 'Whether the configuration names it; otherwise a price book or an upstream lists it.' }),
  is_from_layer: Type.Boolean({ description: 'Whether a published layer names it, and not the file.' }),
  kinds: Type.Array(Type.String(), { description: 'Empty if unknown.' }),
  is_priced: Type.Boolean({ description: 'Whether every target has a price.' }),
  interfaces: Type.Array(record({ interface: Type.Enum(chatInterfaces), way: Type.Enum(['passes', 'translated', 'partly']) }), {
    description: 'How its targets serve each interface of chats: unchanged, by translation, or some of each.',
  }),
  tools: nullable(
    Type.Array(
      record({
        tool: Type.String({ examples: ['web-search'] }),
        run_by: Type.Enum(['vendor', 'gateway'], { description: 'The vendor of the targets runs it, or the gateway.' }),
      }),
      { description: 'Built-in tools that calls of chats can use. Null if the gateway does not report them.' },
    ),
  ),
  limits: nullable(record({ requests_per_minute: optionalLimit, tokens_per_minute: optionalLimit, concurrency: optionalLimit })),
  balance: Type.String({ description: 'How the targets of one tier share its calls.' }),
  targets: Type.Array(
    record({
      id: Type.String(),
      upstream: Type.String(),
      model: Type.String(),
      tier: Type.Integer({ description: 'The targets of tier 1 are called first.' }),
      share: Type.Number({ description: 'Of the calls of its tier, from 0 to 1.' }),
      only: nullable(Type.String({ description: 'The calls that it takes; null for all.' })),
      prices: Type.Array(record({ meter: Type.String(), unit_price_usd: Type.String(), per: Type.Integer() }), {
        description: 'List prices of tokens, without steps for long input and without factors; empty if there are none.',
      }),
    }),
  ),
};
const modelSchema = record(modelMembers);

function encodeModel({
  name,
  isNamed,
  isFromLayer = false,
  kinds,
  isPriced,
  limits,
  tools,
  balance,
  targets,
}: DescribedModel): Static<typeof modelSchema> {
  return {
    name,
    is_named: isNamed,
    is_from_layer: isFromLayer,
    kinds: [...kinds],
    is_priced: isPriced,
    interfaces: chatInterfaces.map((spoken) => {
      const native = targets.filter(({ dialects }) => dialects.includes(spoken)).length;
      return { interface: spoken, way: native === 0 ? 'translated' : native === targets.length ? 'passes' : 'partly' };
    }),
    tools: tools?.map(({ tool, runBy }) => ({ tool, run_by: runBy })) ?? null,
    limits:
      limits === undefined
        ? null
        : {
            requests_per_minute: limits.requestsPerMinute ?? null,
            tokens_per_minute: limits.tokensPerMinute ?? null,
            concurrency: limits.concurrency ?? null,
          },
    balance,
    targets: targets.map(({ only, prices = [], id, upstream, model, tier, share }) => ({
      id,
      upstream,
      model,
      tier,
      share,
      only: only ?? null,
      prices: prices.map(({ meter, unitPriceUsd, per }) => ({ meter, unit_price_usd: unitPriceUsd, per })),
    })),
  };
}

const dayMembers = { calls: Type.Integer(), amount: moneySchema };
const listedSchema = record({ ...modelMembers, last_day: record(dayMembers, 'Of the last 24 hours.') }, 'A model that clients can call.');

export const listModels = booksOperation({
  id: 'models.list',
  method: 'GET',
  path: '/models',
  summary: 'The models that clients can call, by their names, and where their calls go',
  access: 'upstreams:read',
  query: record({ upstream: Type.Optional(Type.String({ maxLength: 64 })), ...pageQuery }),
  reply: pageSchema(listedSchema),
  handle: async ({ query }, context: Context) => {
    const { limit = pageRowsDefault, cursor, upstream } = query;
    const { cursors } = context.services;
    const question = { list: 'models', upstream };
    const after = cursor === undefined ? '' : readPosition(Type.String(), cursors.read(question, cursor));
    const models = listNamed(await listLiveNodes(context)).filter(
      ({ name, targets }) => name > after && (upstream === undefined || targets.some((target) => target.upstream === upstream)),
    );
    const { shown, next_cursor } = cutPage(models, limit, (last) => cursors.write(question, last.name));
    const sums = await sumLastDay(
      context,
      shown.map(({ name }) => name),
    );
    const items = shown.map((model) => {
      const { calls = 0, amountNanoUsd = 0n } = sums.get(model.name) ?? {};
      return { ...encodeModel(model), last_day: { calls, amount: formatMoney(amountNanoUsd) } };
    });
    return { body: { items, next_cursor, as_of: instant(context.nowMs()) } };
  },
});

export const getModel = booksOperation({
  id: 'models.get',
  method: 'GET',
  path: '/models/{name}',
  summary: 'One model: its targets, interfaces, limits, and its calls of the last 24 hours',
  access: 'upstreams:read',
  params: record({ name: Type.String({ maxLength: 256 }) }),
  reply: record({
    ...modelMembers,
    other_names: Type.Array(Type.String(), { description: 'Other models with a target that is a target of this one.' }),
    last_day: record({ ...dayMembers, failed: Type.Integer({ description: 'Calls that failed, which are not among `calls`.' }) }),
  }),
  handle: async (input, context: Context) => {
    const { name } = input.params;
    const models = listNamed(await listLiveNodes(context));
    const found = models.find((model) => model.name === name);
    if (found === undefined) throw notFound('model of this name in a running gateway');
    const ids = new Set(found.targets.map(({ id }) => id));
    const other_names = models.filter((model) => model !== found && model.targets.some(({ id }) => ids.has(id))).map((model) => model.name);
    const { calls, amountNanoUsd, failed } = await sumModelDay(context, name);
    return { body: { ...encodeModel(found), other_names, last_day: { calls, amount: formatMoney(amountNanoUsd), failed } } };
  },
});

export const modelOperations: readonly Operation<ModelServices>[] = [listModels, getModel, explainModel, testModel];
