import { Type } from 'typebox';

import { findNewestBook } from '../../../billing/price-books/publish-prices.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import type { LayerCheck, LayerSource } from '../../../control/layers/publish-layer.ts';
import type { NodeState } from '../../../control/nodes/node-state.ts';
import type { AdminContext } from '../../operation.ts';
import { AdminProblem } from '../../problem.ts';
import type { LayerServices } from './layer-desk.ts';
import { readLayerText } from './layer-problem.ts';

const yamlMax = 512 * 1024;
const daySeconds = 86_400;
/** Models whose calls are looked up at once. */
const usedMax = 50;

/** A layer in a request: exactly one of these is given. */
export const sourceMembers = {
  layer: Type.Optional(
    Type.Unknown({
      description: 'upstreams, models and limits.perKey as in weir.yaml. {"layer": 3} in the place of a secret keeps the one of layer 3.',
    }),
  ),
  yaml: Type.Optional(Type.String({ maxLength: yamlMax, description: 'The same as YAML. Problems have positions then.' })),
  from: Type.Optional(Type.Integer({ minimum: 1, description: 'The number of an earlier layer, which is published again.' })),
};

type Given = { readonly layer?: unknown; readonly yaml?: string | undefined; readonly from?: number | undefined };

/** @throws AdminProblem if not exactly one is given, or the text is not YAML */
export function readLayerSource({ layer, yaml, from }: Given): { readonly source: LayerSource; readonly text?: string } {
  if ([layer, yaml, from].filter((each) => each !== undefined).length !== 1)
    throw new AdminProblem('invalid_request', 'Give exactly one of the fields layer, yaml and from.');
  if (from !== undefined) return { source: { from } };
  return yaml === undefined ? { source: { document: layer } } : { source: { document: readLayerText(yaml) }, text: yaml };
}

/** @throws AdminProblem if this console does not publish layers */
export function assertPublishes({ layerDesk }: Pick<LayerServices, 'layerDesk'>): void {
  if (!layerDesk.isOn())
    throw new AdminProblem('conflict', 'This console does not publish layers: console.editConfig of its configuration is false.');
}

/** Checks a document, and asks which of the models that it would leave without a target are in use. */
export async function checkDocument(
  context: AdminContext<LayerServices>,
  nodes: readonly NodeState[],
  document: unknown,
): Promise<LayerCheck> {
  const { services, nowMs } = context;
  const found = services.layerDesk.check(document, { published: await findNewestBook(services.priceBooks), nodes });
  if (found.problems.length > 0 || found.lostModels.length === 0) return found;
  const endSeconds = Math.ceil(nowMs() / 1000);
  const { series } = await queryUsage(
    services.usage,
    {
      startSeconds: endSeconds - daySeconds,
      endSeconds,
      timeZone: services.about.timeZone,
      granularity: 'none',
      extra: [],
      groupBy: ['model'],
      filter: { models: found.lostModels },
      scope: 'all',
      limit: usedMax,
      rankBy: 'calls',
    },
    nowMs(),
  );
  const used = new Set(series.flatMap(({ names, total }) => (total.calls > 0 ? names : [])));
  return { ...found, lostModels: found.lostModels.filter((model) => used.has(model)) };
}
