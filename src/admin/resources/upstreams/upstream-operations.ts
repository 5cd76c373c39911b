import { type Static, Type } from 'typebox';

import type { CredentialState, DescribedUpstream, NodeState } from '../../../control/nodes/node-state.ts';
import { describedValueSchema, encodeDescribed } from '../../contract/described-value.ts';
import { instant, nullable, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';
import { readUpstreamHistory, type UpstreamHistoryServices } from './upstream-history.ts';

export type UpstreamServices = ControlServices & OperationServices & UpstreamHistoryServices;
type Context = AdminContext<UpstreamServices>;

const secretSchema = record({
  kind: Type.Enum(['secret', 'login', 'credential']),
  name: Type.String({ description: 'The reference of a secret, the store of a login, the upstream of a credential.' }),
  node: Type.String(),
  origin: nullable(Type.String({ description: 'Where it comes from; null if it was never read.' })),
  identity: nullable(Type.String()),
  age_s: nullable(Type.Number({ description: 'Seconds since it was read last; null if it never was.' })),
  read_at: nullable(Type.String()),
  changed_at: nullable(Type.String({ description: 'When the present value of a secret was first seen.' })),
  expires_at: nullable(Type.String()),
  failing_since: nullable(Type.String()),
  problem: nullable(Type.String({ description: 'Why the last reading failed.' })),
});

const listedMembers = {
  name: Type.String(),
  vendor: Type.String(),
  title: Type.String({ description: 'The name of the vendor.' }),
  address: Type.String(),
  dialects: Type.Array(Type.String(), { description: 'The interfaces that it speaks.' }),
  credentials: Type.Array(Type.String(), { description: 'The names of its credentials in the ids of targets.' }),
  is_simulated: Type.Boolean({ description: 'Whether it is a vendor that Weir simulates, because no upstream is configured.' }),
  nodes: Type.Array(Type.String(), { description: 'The running gateways that use it with these settings.' }),
  secrets: Type.Array(secretSchema, {
    description: 'Its secrets by reference, the logins to their stores and its credentials of a cloud, for each gateway.',
  }),
};
const listedSchema = record(listedMembers, 'An upstream of running gateways.');
const upstreamSchema = record({ ...listedMembers, settings: Type.Array(describedValueSchema) });

type Variant = { readonly described: DescribedUpstream; readonly nodes: string[]; readonly secrets: OwnCredential[] };

/** A secret or a credential of an upstream in a gateway. */
type OwnCredential = CredentialState & { readonly node: string };

/** The upstreams of running gateways. Gateways with different settings give several entries of a name. */
function listVariants(states: readonly NodeState[]): readonly Variant[] {
  const variants = new Map<string, Variant>();
  for (const { nodeId, description, report } of states)
    for (const described of description.upstreams) {
      const { nodes, secrets } = variants.getOrInsertComputed(JSON.stringify(described), () => ({ described, nodes: [], secrets: [] }));
      nodes.push(nodeId);
      secrets.push(...ownCredentials(described, report.credentials ?? []).map((each) => ({ ...each, node: nodeId })));
    }
  return [...variants.values()].toSorted((a, b) => (a.described.name < b.described.name ? -1 : 1));
}

/** The secrets that its settings refer to, the logins to their stores, and its own credential. */
function ownCredentials({ name, settings }: DescribedUpstream, all: readonly CredentialState[]): readonly CredentialState[] {
  const references = new Set(settings.flatMap(({ reference }) => reference ?? []));
  const secrets = all.filter((each) => each.kind === 'secret' && references.has(each.name));
  const stores = new Set(secrets.map(({ origin }) => origin));
  return [
    ...secrets,
    ...all.filter(({ kind, name: store }) => kind === 'login' && stores.has(store)),
    ...all.filter((each) => each.kind === 'credential' && each.name === name),
  ];
}

const instantOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : instant(ms));

function encodeSecret(
  { kind, name, node, origin, identity, readAtMs, changedAtMs, expiresAtMs, failure }: OwnCredential,
  nowMs: number,
): Static<typeof secretSchema> {
  return {
    kind,
    name,
    node,
    origin: origin ?? null,
    identity: identity ?? null,
    age_s: readAtMs === undefined ? null : Math.max(0, Math.round((nowMs - readAtMs) / 1000)),
    read_at: instantOrNull(readAtMs),
    changed_at: instantOrNull(changedAtMs),
    expires_at: instantOrNull(expiresAtMs),
    failing_since: instantOrNull(failure?.sinceMs),
    problem: failure?.reason ?? null,
  };
}

function encodeListed({ described, nodes, secrets }: Variant, nowMs: number) {
  const { name, vendor, title, address, dialects, credentials, settings } = described;
  const is_simulated = settings.some(({ from }) => from === 'simulated');
  return {
    name,
    vendor,
    title,
    address,
    dialects: [...dialects],
    credentials: [...credentials],
    is_simulated,
    nodes,
    secrets: secrets.map((each) => encodeSecret(each, nowMs)),
  };
}

export const listUpstreams = operation({
  id: 'upstreams.list',
  method: 'GET',
  path: '/upstreams',
  summary: 'The upstreams of the running gateways',
  access: 'upstreams:read',
  reply: pageSchema(listedSchema),
  handle: async (_input, context: Context) => {
    const nowMs = context.nowMs();
    const items = listVariants(await listLiveNodes(context)).map((variant) => encodeListed(variant, nowMs));
    return { body: { items, next_cursor: null, as_of: instant(nowMs) } };
  },
});

const params = record({ name: Type.String({ maxLength: 64 }) });

/** The settings that most gateways use. @throws AdminProblem `not_found` */
async function find(context: Context, name: string): Promise<Variant> {
  const [found] = listVariants(await listLiveNodes(context))
    .filter(({ described }) => described.name === name)
    .toSorted((a, b) => b.nodes.length - a.nodes.length);
  if (found === undefined) throw notFound('upstream of this name in a running gateway');
  return found;
}

export const getUpstream = operation({
  id: 'upstreams.get',
  method: 'GET',
  path: '/upstreams/{name}',
  summary: 'One upstream: its settings, and where each comes from',
  access: 'upstreams:read',
  params,
  reply: upstreamSchema,
  handle: async (input, context: Context) => {
    const found = await find(context, input.params.name);
    return { body: { ...encodeListed(found, context.nowMs()), settings: found.described.settings.map(encodeDescribed) } };
  },
});

/** How far a check goes. */
export const checkMembers = {
  checks: Type.Optional(
    Type.Array(Type.String({ maxLength: 40 }), {
      maxItems: 20,
      description: 'The names that `weir doctor --check` takes; all if empty.',
    }),
  ),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The name at the upstream.' })),
  may_call: Type.Optional(Type.Boolean({ description: 'Whether requests may be sent that the vendor bills. Default: false.' })),
  timeout_s: Type.Optional(Type.Number({ minimum: 0.1, maximum: 3600, description: 'The longest time of one step. Default: 30.' })),
};

export const checkUpstream = operation({
  id: 'upstreams.check',
  method: 'POST',
  path: '/upstreams/{name}/checks',
  summary: 'Checks an upstream from a gateway, as `weir doctor` does: connection, credential, and each interface',
  access: 'upstreams:write',
  status: 202,
  params,
  body: request(checkMembers),
  reply: operationSchema,
  handle: async ({ params: { name }, body }, context: Context) => {
    await find(context, name);
    const { checks = [], model = null, may_call = false, timeout_s = 30 } = body;
    const started = await context.services.operations.start({
      kind: 'upstreams.check',
      permission: 'upstreams:write',
      input: { upstream: name, checks, model, may_call, timeout_s },
      change: context.change(),
      isAudited: true,
      startWithinMs: 30_000,
    });
    return answerStarted(started);
  },
});

export const upstreamOperations: readonly Operation<UpstreamServices>[] = [listUpstreams, getUpstream, readUpstreamHistory, checkUpstream];
