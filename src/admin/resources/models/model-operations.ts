import { type Static, Type } from 'typebox';

import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import type { DescribedModel } from '../../../control/nodes/node-state.ts';
import { instant, moneySchema, nullable, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { type CallModelServices, chatInterfaces, explainModel } from './explain-model.ts';
import { testModel } from './test-model.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';
import { readPosition } from '../read-position.ts';
import { listNamed } from './list-named.ts';
import type { UsageServices } from '../usage/usage-operations.ts';

type ModelServices = ControlServices & ListServices & UsageServices & CallModelServices;
type Context = AdminContext<ModelServices>;

const daySeconds = 86_400;
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
    }),
  ),
};
const modelSchema = record(modelMembers, 'A model that clients can call.');

function encodeModel({
  name,
  isNamed,
  isFromLayer = false,
  kinds,
  isPriced,
  limits,
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
    limits:
      limits === undefined
        ? null
        : {
            requests_per_minute: limits.requestsPerMinute ?? null,
            tokens_per_minute: limits.tokensPerMinute ?? null,
            concurrency: limits.concurrency ?? null,
          },
    balance,
    targets: targets.map(({ id, upstream, model, tier, share, only }) => ({ id, upstream, model, tier, share, only: only ?? null })),
  };
}

export const listModels = operation({
  id: 'models.list',
  method: 'GET',
  path: '/models',
  summary: 'The models that clients can call, by their names, and where their calls go',
  access: 'upstreams:read',
  query: record({ upstream: Type.Optional(Type.String({ maxLength: 64 })), ...pageQuery }),
  reply: pageSchema(modelSchema),
  handle: async ({ query }, context: Context) => {
    const { limit = pageRowsDefault, cursor, upstream } = query;
    const { cursors } = context.services;
    const question = { list: 'models', upstream };
    const after = cursor === undefined ? '' : readPosition(Type.String(), cursors.read(question, cursor));
    const models = listNamed(await listLiveNodes(context)).filter(
      ({ name, targets }) => name > after && (upstream === undefined || targets.some((target) => target.upstream === upstream)),
    );
    const shown = models.slice(0, limit);
    const last = models.length > limit ? shown.at(-1) : undefined;
    const next_cursor = last === undefined ? null : cursors.write(question, last.name);
    return { body: { items: shown.map(encodeModel), next_cursor, as_of: instant(context.nowMs()) } };
  },
});

export const getModel = operation({
  id: 'models.get',
  method: 'GET',
  path: '/models/{name}',
  summary: 'One model: its targets, interfaces, limits, and its calls of the last 24 hours',
  access: 'upstreams:read',
  params: record({ name: Type.String({ maxLength: 256 }) }),
  reply: record({ ...modelMembers, last_day: record({ calls: Type.Integer(), amount: moneySchema }) }),
  handle: async (input, context: Context) => {
    const { services, principal, nowMs } = context;
    const { name } = input.params;
    const found = listNamed(await listLiveNodes(context)).find((model) => model.name === name);
    if (found === undefined) throw notFound('model of this name in a running gateway');
    const endSeconds = Math.ceil(nowMs() / 1000);
    const { totals } = await queryUsage(
      services.usage,
      {
        startSeconds: endSeconds - daySeconds,
        endSeconds,
        timeZone: services.about.timeZone,
        granularity: 'none',
        extra: [],
        groupBy: [],
        filter: { models: [name] },
        scope: principal.users,
        limit: 1,
        rankBy: 'amount',
      },
      nowMs(),
    );
    const { calls, amountNanoUsd } = totals.total;
    return { body: { ...encodeModel(found), last_day: { calls, amount: formatMoney(amountNanoUsd) } } };
  },
});

export const modelOperations: readonly Operation<ModelServices>[] = [listModels, getModel, explainModel, testModel];
