import type { JsonRecord, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './responses-error.ts';

export type ListedModel = { readonly id: string; readonly created: number; readonly ownedBy: string };

const idPrefix = '/v1/models/';

/** GET /v1/models and /v1/models/{id} over a list; undefined for every other route. */
export function handleModelList(request: SimulatedRequest, models: readonly ListedModel[]): SimulatedReply | undefined {
  if (request.method !== 'GET') return undefined;
  if (request.path === '/v1/models') return reply({ object: 'list', data: models.map(writeModel) });
  if (!request.path.startsWith(idPrefix)) return undefined;
  const id = decodeURIComponent(request.path.slice(idPrefix.length));
  const model = models.find((candidate) => candidate.id === id);
  if (model === undefined) {
    throw refuse(`The model '${id}' does not exist`, { status: 404, param: 'model', code: 'model_not_found' });
  }
  return reply(writeModel(model));
}

function writeModel(model: ListedModel): JsonRecord {
  return { id: model.id, object: 'model', created: model.created, owned_by: model.ownedBy };
}

function reply(body: JsonRecord): SimulatedReply {
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
