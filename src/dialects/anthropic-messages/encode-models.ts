import type { ListedModel } from '../model-lists.ts';
import { type ModelListFormat, readPageSize } from '../model-lists.ts';

function encodeModel(model: ListedModel): unknown {
  return {
    type: 'model',
    id: model.id,
    display_name: model.displayName,
    created_at: new Date(model.createdAtMs).toISOString().replace('.000Z', 'Z'),
  };
}

/**
 * GET /v1/models in the form of Messages: pages by `limit`, `after_id` and `before_id` (messages reference, section 5).
 */
export const anthropicModelList: ModelListFormat = {
  onlyOf: undefined,
  encodeModel,
  encodeList: (models, query) => {
    const size = readPageSize(query.get('limit'), 20, 1000);
    const afterId = query.get('after_id');
    const beforeId = query.get('before_id');
    const after = afterId === null ? 0 : models.findIndex((model) => model.id === afterId) + 1;
    const before = beforeId === null ? -1 : models.findIndex((model) => model.id === beforeId);
    const page = before === -1 ? models.slice(after, after + size) : models.slice(Math.max(0, before - size), before);
    const last = page.at(-1);
    return {
      data: page.map((model) => encodeModel(model)),
      has_more: before === -1 ? after + size < models.length : before > size,
      first_id: page[0]?.id ?? null,
      last_id: last?.id ?? null,
    };
  },
};
