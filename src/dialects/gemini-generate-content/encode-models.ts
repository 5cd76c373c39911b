import type { ListedModel } from '../model-lists.ts';
import { type ModelListFormat, readPageSize } from '../model-lists.ts';

function encodeModel(model: ListedModel): unknown {
  return {
    name: `models/${model.id}`,
    baseModelId: model.id,
    version: '001',
    displayName: model.displayName,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  };
}

/** GET /v1beta/models: pages by `pageSize` and `pageToken`; the token is the start of the next page. */
export const geminiModelList: ModelListFormat = {
  onlyOf: 'gemini',
  encodeModel,
  encodeList: (models, query) => {
    const size = readPageSize(query.get('pageSize') ?? query.get('page_size'), 50, 1000);
    const token = Number(query.get('pageToken') ?? query.get('page_token') ?? '0');
    const start = Number.isInteger(token) && token > 0 ? token : 0;
    const page = models.slice(start, start + size).map((model) => encodeModel(model));
    return start + size < models.length ? { models: page, nextPageToken: String(start + size) } : { models: page };
  },
};
