import { type Static, Type } from 'typebox';

import type { ConfigLayer, ConfigLayerSummary } from '../../../control/layers/config-layer.ts';
import { readDocument, readSecrets } from '../../../control/layers/layer-seal.ts';
import { pathOfPlace, putSecret } from '../../../control/layers/layer-secrets.ts';
import { publishLayer } from '../../../control/layers/publish-layer.ts';
import type { NodeState } from '../../../control/nodes/node-state.ts';
import { instant, nullable, pageQuery, pageRowsDefault, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import { listLiveNodes } from '../nodes/live-nodes.ts';
import { cutPage } from '../cut-page.ts';
import { readPosition } from '../read-position.ts';
import type { LayerServices } from './layer-desk.ts';
import { refuseLayer } from './layer-problem.ts';
import { assertPublishes, checkDocument, readLayerSource, sourceMembers } from './layer-source.ts';

type Context = AdminContext<LayerServices>;

const noteMax = 500;

const layerMembers = {
  number: Type.Integer({ description: 'The newest one is in force.' }),
  published_at: Type.String(),
  actor: Type.String(),
  note: nullable(Type.String()),
  restored: nullable(Type.Integer({ description: 'The earlier layer that was published again.' })),
  used_by: Type.Array(Type.String(), { description: 'Running gateways in which it is in force.' }),
  problems: Type.Array(record({ node: Type.String(), detail: Type.String() }), {
    description: 'Running gateways that do not use it although it is the newest, and why.',
  }),
};
const layerSchema = record(layerMembers, 'Upstreams, models and limits of keys that were published for all gateways.');
const wholeLayerSchema = record({
  ...layerMembers,
  layer: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'As in weir.yaml: upstreams, models, limits.perKey. A secret is {set, ends_in, layer}, and is kept if it is sent like that.',
    },
  ),
  hidden: Type.Array(record({ node: Type.String(), paths: Type.Array(Type.String()) }), {
    description: 'What the files of running gateways override, while this layer is in force.',
  }),
});

function problemOf({ report: { layer, version } }: NodeState): string | undefined {
  if (layer === undefined) return `version ${version} knows no layers`;
  return layer.isTaken ? layer.problem : 'the file of this gateway does not allow layers (console.editConfig)';
}

function encodeLayer(layer: ConfigLayerSummary, newest: number, nodes: readonly NodeState[]): Static<typeof layerSchema> {
  const { number, publishedAtMs, actor, note, restored } = layer;
  return {
    number,
    published_at: instant(publishedAtMs),
    actor,
    note: note ?? null,
    restored: restored ?? null,
    used_by: nodes.filter(({ report }) => report.layer?.number === number).map(({ nodeId }) => nodeId),
    problems:
      number < newest
        ? []
        : nodes.flatMap((node) => {
            const detail = problemOf(node);
            return detail === undefined ? [] : [{ node: node.nodeId, detail }];
          }),
  };
}

/** The document with what may be shown of its secrets. */
function maskSecrets(layer: ConfigLayer): object {
  return Object.entries(readSecrets(layer)).reduce<object>(
    (document, [place, { endsIn, since }]) => putSecret(document, pathOfPlace(place), { set: true, ends_in: endsIn ?? null, layer: since }),
    readDocument(layer),
  );
}

function encodeWhole(layer: ConfigLayer, newest: number, nodes: readonly NodeState[]): Static<typeof wholeLayerSchema> {
  return {
    ...encodeLayer(layer, newest, nodes),
    layer: maskSecrets(layer),
    hidden: nodes
      .filter(({ report }) => report.layer?.number === layer.number && report.layer.hidden.length > 0)
      .map(({ nodeId, report }) => ({ node: nodeId, paths: [...(report.layer?.hidden ?? [])] })),
  };
}

export const listLayers = operation({
  id: 'config.layers.list',
  method: 'GET',
  path: '/config/layers',
  summary: 'The published layers of the configuration, newest first; the ETag is the number of the newest, 0 if there is none',
  access: 'config:read',
  query: record(pageQuery),
  reply: record({
    is_on: Type.Boolean({ description: 'Whether this console publishes layers (console.editConfig).' }),
    ...pageSchema(layerSchema).properties,
  }),
  handle: async ({ query }, context: Context) => {
    const { services, nowMs } = context;
    const { limit = pageRowsDefault, cursor } = query;
    const question = { list: 'config_layers' };
    const before = cursor === undefined ? undefined : readPosition(Type.Integer({ minimum: 1 }), services.cursors.read(question, cursor));
    const [newest] = await services.configLayers.listConfigLayers({ limit: 1 });
    const found = await services.configLayers.listConfigLayers({ limit: limit + 1, ...(before !== undefined && { before }) });
    const nodes = await listLiveNodes(context);
    const { shown, next_cursor } = cutPage(found, limit, (last) => services.cursors.write(question, last.number));
    const items = shown.map((layer) => encodeLayer(layer, newest?.number ?? 0, nodes));
    return {
      body: { is_on: services.layerDesk.isOn(), items, next_cursor, as_of: instant(nowMs()) },
      version: newest?.number ?? 0,
    };
  },
});

export const getLayer = operation({
  id: 'config.layers.get',
  method: 'GET',
  path: '/config/layers/{number}',
  summary: 'One layer, with its secrets masked',
  access: 'config:read',
  params: record({ number: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) }),
  reply: wholeLayerSchema,
  handle: async ({ params }, context: Context) => {
    const number = Number(params.number);
    const { configLayers } = context.services;
    const layer = await configLayers.findConfigLayer(number);
    if (layer === undefined) throw notFound('layer of this number');
    const [newest] = await configLayers.listConfigLayers({ limit: 1 });
    return { body: encodeWhole(layer, newest?.number ?? 0, await listLiveNodes(context)), version: number };
  },
});

const publishSchema = request({
  ...sourceMembers,
  note: Type.Optional(Type.String({ maxLength: noteMax, description: 'Why.' })),
  drop_models: Type.Optional(
    Type.Array(Type.String({ maxLength: 256 }), {
      maxItems: 1000,
      description: 'Models that were called in the last 24 hours and may lose their last target. Others may not.',
    }),
  ),
});

/** The newest layer, as the answer 412 shows it. */
async function presentLayer(services: LayerServices): Promise<unknown> {
  const newest = await services.configLayers.newestConfigLayer();
  return newest === undefined ? null : encodeWhole(newest, newest.number, []);
}

export const publishConfigLayer = operation({
  id: 'config.layers.publish',
  method: 'POST',
  path: '/config/layers',
  summary: 'Publishes a layer below the files of all gateways, which take it within two seconds; or an earlier one again',
  access: 'config:write',
  recentSignIn: true,
  matchRequired: true,
  versionOf: async (_params, services: LayerServices) => (await services.configLayers.listConfigLayers({ limit: 1 }))[0]?.number ?? 0,
  present: (_params, services: LayerServices) => presentLayer(services),
  status: 201,
  body: publishSchema,
  reply: wholeLayerSchema,
  handle: async ({ body }, context: Context) => {
    const { services, change, expected } = context;
    assertPublishes(services);
    const { source, text } = readLayerSource(body);
    const nodes = await listLiveNodes(context);
    const parts = {
      store: services.configLayers,
      sealer: services.layerSealer(),
      check: (document: unknown) => checkDocument(context, nodes, document),
    };
    const facts = { note: body.note, expectedNewest: expected, dropModels: body.drop_models ?? [] };
    const layer = await publishLayer(parts, source, facts, change()).catch(async (error: unknown) =>
      refuseLayer(error, { text, present: () => presentLayer(services) }),
    );
    const { number } = layer;
    return { body: encodeWhole(layer, number, []), version: number, location: `/config/layers/${number}` };
  },
});

export const exportConfig = operation({
  id: 'config.export',
  method: 'GET',
  path: '/config/export',
  summary: 'The file of this console and the newest layer as one weir.yaml; secrets are names of variables',
  access: 'config:read',
  reply: record({ yaml: Type.String(), layer: nullable(Type.Integer({ description: 'The layer in it; null if none is published.' })) }),
  handle: async (_input, { services }: Context) => {
    const newest = await services.configLayers.newestConfigLayer();
    return { body: { yaml: services.layerDesk.exportFile(newest), layer: newest?.number ?? null } };
  },
});

export const layerOperations: readonly Operation<LayerServices>[] = [listLayers, getLayer, publishConfigLayer, exportConfig];
