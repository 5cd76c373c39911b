import { type Static, Type } from 'typebox';

import type { NodeState, TargetOverride, TargetState } from '../../../control/nodes/node-state.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import { instant, instantQuery, nullable, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { invalidField, notFound } from '../../problem.ts';
import { type ControlServices, isSilent, listLiveNodes, watchNodes } from '../nodes/live-nodes.ts';

export type TargetServices = ControlServices & { readonly audit: Pick<AuditStore, 'subjectVersion'> };
type Context = AdminContext<TargetServices>;

/** From the best to the worst. */
export const targetStates = ['healthy', 'suspect', 'rate-limited', 'failing', 'rejected'] as const;

const overrideDaysMax = 30;

const overrideSchema = record(
  {
    target: Type.String(),
    state: Type.Enum(['out']),
    reason: Type.String(),
    actor: Type.String(),
    set_at: Type.String(),
    until: Type.String(),
  },
  'The order of an operator to send no calls to a target.',
);

const targetSchema = record(
  {
    id: Type.String({ examples: ['openai/gpt-5-mini'] }),
    upstream: Type.String(),
    credential: Type.String({ description: 'The upstream, and the place of the credential if it has several: `openai#2`.' }),
    model: Type.String({ description: 'The name at the upstream; `*` for all.' }),
    state: nullable(Type.Enum(targetStates, { description: 'The worst of all running gateways; null if none has used it.' })),
    override: nullable(overrideSchema),
    nodes: Type.Array(
      record({
        node: Type.String(),
        state: Type.Enum(targetStates),
        again_in_ms: nullable(Type.Integer({ description: 'Time until it is probed; null if it is in use.' })),
        calls_under_way: Type.Integer(),
        consecutive_failures: Type.Integer(),
        has_answered: Type.Boolean({ description: 'Without an answer, healthy only means that nothing has failed.' }),
        reported_at: Type.String(),
        is_silent: Type.Boolean(),
      }),
    ),
  },
  'A model at an upstream with one of its credentials.',
);

/** The worst of some states; null if there are none. */
export const worstState = (some: readonly TargetState['state'][]): TargetState['state'] | null =>
  targetStates[Math.max(-1, ...some.map((state) => targetStates.indexOf(state)))] ?? null;

function encodeOverride({ targetId, reason, actor, setAtMs, untilMs }: TargetOverride): Static<typeof overrideSchema> {
  return { target: targetId, state: 'out', reason, actor, set_at: instant(setAtMs), until: instant(untilMs) };
}

/** The credential and the model of a target's id. */
function splitId(id: string): readonly [string, string] {
  const at = id.indexOf('/');
  return at === -1 ? [id, ''] : [id.slice(0, at), id.slice(at + 1)];
}

type Seen = { readonly node: NodeState; readonly target: TargetState };

/** Targets that gateways have used, and those with an order, by their ids. */
export function encodeTargets(nodes: readonly NodeState[], overrides: readonly TargetOverride[], nowMs: number) {
  const seen = nodes.flatMap((node) => node.report.targets.map((target): Seen => ({ node, target })));
  const byId = Map.groupBy(seen, ({ target }) => target.id);
  const ids = new Set([...byId.keys(), ...overrides.map(({ targetId }) => targetId)]);
  return [...ids].toSorted().map((id): Static<typeof targetSchema> => {
    const [credential, model] = splitId(id);
    const own = byId.get(id) ?? [];
    const live = own.filter(({ node }) => !isSilent(node, nowMs)).map(({ target }) => target.state);
    const override = overrides.find(({ targetId }) => targetId === id);
    return {
      id,
      upstream: own[0]?.target.upstream ?? credential.replace(/#\d+$/, ''),
      credential,
      model,
      state: worstState(live),
      override: override === undefined ? null : encodeOverride(override),
      nodes: own.map(({ node, target }) => ({
        node: node.nodeId,
        state: target.state,
        again_in_ms: target.againInMs === undefined ? null : Math.round(target.againInMs),
        calls_under_way: target.inFlight,
        consecutive_failures: target.consecutiveFailures,
        has_answered: target.hasAnswered,
        reported_at: instant(node.atMs),
        is_silent: isSilent(node, nowMs),
      })),
    };
  });
}

export const listTargets = operation({
  id: 'targets.list',
  method: 'GET',
  path: '/targets',
  summary: 'The health of the targets that gateways have used, and the orders of operators about them',
  access: 'upstreams:read',
  query: record({
    upstream: Type.Optional(Type.String({ maxLength: 64 })),
    state: Type.Optional(Type.Enum([...targetStates, 'out'])),
    node: Type.Optional(Type.String({ maxLength: 100 })),
  }),
  reply: pageSchema(targetSchema),
  handle: async ({ query }, context: Context) => {
    const atMs = context.nowMs();
    const nodes = await watchNodes(context);
    const overrides = await context.services.control.listOverrides(atMs);
    const chosen = nodes.filter(({ nodeId }) => query.node === undefined || nodeId === query.node);
    const items = encodeTargets(chosen, overrides, atMs).filter(
      ({ upstream, state, override }) =>
        (query.upstream === undefined || upstream === query.upstream) &&
        (query.state === undefined || (query.state === 'out' ? override !== null : state === query.state)),
    );
    return { body: { items, next_cursor: null, as_of: instant(atMs) } };
  },
});

const params = record({ id: Type.String({ maxLength: 400, description: 'Percent-encoded: `openai%2Fgpt-5-mini`.' }) });
const subject = ({ id }: Readonly<Record<string, string>>): string => `target:${id ?? ''}`;

/** @throws AdminProblem `not_found` if no running gateway has the upstream */
async function assertTarget(context: Context, id: string): Promise<void> {
  const [credential, model] = splitId(id);
  const nodes = await listLiveNodes(context);
  const isKnown = nodes.some(({ description }) =>
    description.upstreams.some(({ name, credentials }) => name === credential || credentials.includes(credential)),
  );
  if (!isKnown || model === '') throw notFound('target of this id at an upstream of a running gateway: it is <credential>/<model>');
}

const getTarget = operation({
  id: 'targets.get',
  method: 'GET',
  path: '/targets/{id}',
  summary: 'The health of one target',
  access: 'upstreams:read',
  params,
  reply: targetSchema,
  handle: async (input, context: Context) => {
    const { services, nowMs } = context;
    const { id } = input.params;
    const version = await services.audit.subjectVersion(subject({ id }));
    const overrides = await services.control.listOverrides(nowMs());
    const found = encodeTargets(await watchNodes(context), overrides, nowMs()).find((target) => target.id === id);
    if (found === undefined) throw notFound('target of this id that a gateway has used');
    return { body: found, version };
  },
});

export const takeOut = operation({
  id: 'targets.take_out',
  method: 'PUT',
  path: '/targets/{id}/override',
  summary: 'Takes a target out of use until a time; every gateway follows within two seconds. The model `*` means all models',
  access: 'upstreams:write',
  recentSignIn: true,
  params,
  subject,
  body: request({
    state: Type.Enum(['out']),
    until: instantQuery(`At most ${overrideDaysMax} days from now.`),
    reason: Type.String({ minLength: 1, maxLength: 500 }),
  }),
  reply: overrideSchema,
  handle: async ({ params: { id }, body }, context: Context) => {
    const { services, change } = context;
    await assertTarget(context, id);
    const author = change();
    const untilMs = Date.parse(body.until);
    const isRight = untilMs > author.atMs && untilMs <= author.atMs + overrideDaysMax * 86_400_000;
    if (!isRight) throw invalidField('/until', 'out_of_range', `The field until must be in the future, within ${overrideDaysMax} days.`);
    const override = { targetId: id, reason: body.reason, actor: author.actor, setAtMs: author.atMs, untilMs };
    await services.control.putOverride(override, author);
    return { body: encodeOverride(override), version: await services.audit.subjectVersion(subject({ id })) };
  },
});

export const putBack = operation({
  id: 'targets.put_back',
  method: 'DELETE',
  path: '/targets/{id}/override',
  summary: 'Puts a target back into use',
  access: 'upstreams:write',
  recentSignIn: true,
  status: 204,
  params,
  subject,
  handle: async (input, { services, change }: Context) => {
    if (!(await services.control.removeOverride(input.params.id, change()))) throw notFound('target of this id that is out of use');
    return { body: undefined };
  },
});

export const targetOperations: readonly Operation<TargetServices>[] = [listTargets, getTarget, takeOut, putBack];
