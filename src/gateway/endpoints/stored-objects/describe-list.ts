import type { ItemPage } from '../../../conversations/response-store.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { type Include, showItem } from '../../../dialects/openai-responses/show-item.ts';

/** A page of items as a list object of the interface. */
export function describeList({ items, hasMore }: ItemPage, include: Include): JsonObject {
  return {
    object: 'list',
    data: items.map((item) => showItem(item, include)),
    first_id: items[0]?.['id'] ?? null,
    last_id: items.at(-1)?.['id'] ?? null,
    has_more: hasMore,
  };
}
