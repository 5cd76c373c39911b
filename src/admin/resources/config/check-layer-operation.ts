import { type Static, Type } from 'typebox';

import { findNewestBook } from '../../../billing/price-books/publish-prices.ts';
import { prepareCandidate } from '../../../control/layers/publish-layer.ts';
import { request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem } from '../../problem.ts';
import { listLiveNodes } from '../nodes/live-nodes.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';
import { checkMembers } from '../upstreams/upstream-operations.ts';
import type { LayerServices } from './layer-desk.ts';
import { refuseLayer } from './layer-problem.ts';
import { assertPublishes, readLayerSource, sourceMembers } from './layer-source.ts';

type Context = AdminContext<LayerServices & OperationServices>;

/** The kind of the operation that a gateway runs. */
export const layerCheckKind = 'config.layers.check';

/** What the gateway gets besides the sealed layer. */
export type LayerCheckInput = {
  readonly upstreams: readonly string[];
  readonly checks: readonly string[];
  readonly model: string | null;
  readonly may_call: boolean;
  readonly timeout_s: number;
};

const upstreamsMax = 20;

const bodySchema = request({
  ...sourceMembers,
  upstreams: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: upstreamsMax,
      description: `The upstreams of the layer to check, at most ${upstreamsMax}. Default: those that are not as in the newest layer.`,
    }),
  ),
  ...checkMembers,
});

/** The upstreams to check. @throws AdminProblem */
function chooseUpstreams({ upstreams }: Static<typeof bodySchema>, all: readonly string[], changed: readonly string[]): readonly string[] {
  const unknown = upstreams?.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    const detail = `The layer has no upstream ${unknown}; it has: ${all.join(', ') || 'none'}.`;
    throw new AdminProblem('invalid_request', detail, { errors: [{ pointer: '/upstreams', code: 'unknown', detail }] });
  }
  const chosen = [...new Set(upstreams ?? changed)];
  if (chosen.length > 0 && chosen.length <= upstreamsMax) return chosen;
  const detail =
    chosen.length === 0
      ? `The layer changes no upstream. Name those to check in upstreams; it has: ${all.join(', ') || 'none'}.`
      : `The layer changes ${chosen.length} upstreams. Name at most ${upstreamsMax} of them in upstreams.`;
  const code = chosen.length === 0 ? 'unchanged' : 'count';
  throw new AdminProblem('invalid_request', detail, { errors: [{ pointer: '/upstreams', code, detail }] });
}

/**
 * A credential of the request is sealed for its address before it leaves this process: a console cannot open it, and
 * the database never has it in clear. So a check can send a stored credential nowhere but where it belongs.
 */
export const checkConfigLayer = operation({
  id: layerCheckKind,
  method: 'POST',
  path: '/config/layers/checks',
  summary: 'Checks upstreams of a layer from a gateway, as `weir doctor` does, before the layer is published; nothing is changed',
  access: 'config:write',
  recentSignIn: true,
  status: 202,
  body: bodySchema,
  reply: operationSchema,
  handle: async ({ body }, context: Context) => {
    const { services, change } = context;
    assertPublishes(services);
    const { source, text } = readLayerSource(body);
    const around = { published: await findNewestBook(services.priceBooks), nodes: await listLiveNodes(context) };
    const parts = {
      store: services.configLayers,
      sealer: services.layerSealer(),
      check: (document: unknown) => Promise.resolve(services.layerDesk.check(document, around)),
    };
    const { candidate, changed, document } = await prepareCandidate(parts, source).catch(async (error: unknown) =>
      refuseLayer(error, { text, present: () => Promise.resolve(null) }),
    );
    const { checks = [], model = null, may_call = false, timeout_s = 30 } = body;
    const upstreams = chooseUpstreams(body, Object.keys(document.upstreams ?? {}), changed);
    const input: LayerCheckInput = { upstreams, checks, model, may_call, timeout_s };
    const started = await services.operations.start({
      kind: layerCheckKind,
      permission: 'config:write',
      input,
      sealed: JSON.stringify(candidate),
      change: change(),
      isAudited: true,
      startWithinMs: 30_000,
    });
    return answerStarted(started);
  },
});

export const layerCheckOperations: readonly Operation<LayerServices & OperationServices>[] = [checkConfigLayer];
