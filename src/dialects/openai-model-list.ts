import type { ListedModel } from './model-lists.ts';
import type { ModelListFormat } from './model-lists.ts';

function encodeModel(model: ListedModel): unknown {
  return { id: model.id, object: 'model', created: Math.floor(model.createdAtMs / 1000), owned_by: model.ownedBy };
}

/** GET /v1/models for OpenAI's clients: one page with everything. */
export const openaiModelList: ModelListFormat = {
  onlyOf: undefined,
  encodeModel,
  encodeList: (models) => ({ object: 'list', data: models.map((model) => encodeModel(model)) }),
};
