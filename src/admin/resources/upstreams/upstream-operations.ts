import { Type } from 'typebox';

import type { DescribedUpstream, NodeState } from '../../../control/nodes/node-state.ts';
import { describedValueSchema, encodeDescribed } from '../../contract/described-value.ts';
import { instant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';
import { readUpstreamHistory, type UpstreamHistoryServices } from './upstream-history.ts';

export type UpstreamServices = ControlServices & OperationServices & UpstreamHistoryServices;
type Context = AdminContext<UpstreamServices>;

const listedMembers = {
  name: Type.String(),
  vendor: Type.String(),
  title: Type.String({ description: 'The name of the vendor.' }),
  address: Type.String(),
  dialects: Type.Array(Type.String(), { description: 'The interfaces that it speaks.' }),
  credentials: Type.Array(Type.String(), { description: 'The names of its credentials in the ids of targets.' }),
  is_simulated: Type.Boolean({ description: 'Whether it is a vendor that Weir simulates, because no upstream is configured.' }),
  nodes: Type.Array(Type.String(), { description: 'The running gateways that use it with these settings.' }),
};
const listedSchema = record(listedMembers, 'An upstream of running gateways.');
const upstreamSchema = record({ ...listedMembers, settings: Type.Array(describedValueSchema) });

type Variant = { readonly described: DescribedUpstream; readonly nodes: string[] };

/** The upstreams of running gateways. Gateways with different settings give several entries of a name. */
function listVariants(states: readonly NodeState[]): readonly Variant[] {
  const variants = new Map<string, Variant>();
  for (const { nodeId, description } of states)
    for (const described of description.upstreams)
      variants.getOrInsertComputed(JSON.stringify(described), () => ({ described, nodes: [] })).nodes.push(nodeId);
  return [...variants.values()].toSorted((a, b) => (a.described.name < b.described.name ? -1 : 1));
}

function encodeListed({ described, nodes }: Variant) {
  const { name, vendor, title, address, dialects, credentials, settings } = described;
  const is_simulated = settings.some(({ from }) => from === 'simulated');
  return { name, vendor, title, address, dialects: [...dialects], credentials: [...credentials], is_simulated, nodes };
}

export const listUpstreams = operation({
  id: 'upstreams.list',
  method: 'GET',
  path: '/upstreams',
  summary: 'The upstreams of the running gateways',
  access: 'upstreams:read',
  reply: pageSchema(listedSchema),
  handle: async (_input, context: Context) => {
    const items = listVariants(await listLiveNodes(context)).map(encodeListed);
    return { body: { items, next_cursor: null, as_of: instant(context.nowMs()) } };
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
    return { body: { ...encodeListed(found), settings: found.described.settings.map(encodeDescribed) } };
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
