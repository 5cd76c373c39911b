import type { FileFilter, FileSearchTool } from '../../../inference/inference-request.ts';
import { countOf, filledText, membersOf, numberOf, objectsOf, textOf, textsOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

const comparisons = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'] as const;

type Scalar = string | number | boolean;

const isScalar = (value: JsonValue | undefined): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function readValue(value: JsonValue | undefined): Scalar | readonly Scalar[] | undefined {
  if (isScalar(value)) return value;
  return Array.isArray(value) ? value.filter(isScalar) : undefined;
}

/** Reads a filter over attributes: a comparison, or filters joined by and/or. Undefined for other objects. */
function decodeFilter(filter: JsonObject): FileFilter | undefined {
  const { type } = filter;
  if (type === 'and' || type === 'or') {
    return { kind: type, filters: objectsOf(filter.filters).flatMap((inner) => decodeFilter(inner) ?? []) };
  }
  const operator = wordOf(type, comparisons);
  const key = textOf(filter.key);
  const value = readValue(filter.value);
  return operator === undefined || key === undefined || value === undefined ? undefined : { kind: 'compare', key, operator, value };
}

/** Reads the file search tool. Bounds have been checked. */
export function decodeFileSearch(tool: JsonObject, path: string): FileSearchTool {
  const filter = isJsonObject(tool.filters) ? decodeFilter(tool.filters) : undefined;
  const ranking = membersOf(tool.ranking_options);
  const resultsMax = countOf(tool.max_num_results);
  const ranker = filledText(ranking.ranker);
  const scoreThreshold = numberOf(ranking.score_threshold);
  return {
    kind: 'file-search',
    storeIds: textsOf(tool.vector_store_ids),
    path,
    ...(filter === undefined ? {} : { filter }),
    ...(resultsMax === undefined ? {} : { resultsMax }),
    ...(ranker === undefined ? {} : { ranker }),
    ...(scoreThreshold === undefined ? {} : { scoreThreshold }),
  };
}

function encodeFilter(filter: FileFilter): JsonObject {
  if (filter.kind !== 'compare') return { type: filter.kind, filters: filter.filters.map(encodeFilter) };
  return { type: filter.operator, key: filter.key, value: filter.value };
}

/** Writes the tool for a vendor that has the stores itself. */
export function encodeFileSearch({ storeIds, filter, resultsMax, ranker, scoreThreshold }: FileSearchTool): JsonObject {
  const ranking = {
    ...(ranker === undefined ? {} : { ranker }),
    ...(scoreThreshold === undefined ? {} : { score_threshold: scoreThreshold }),
  };
  return {
    type: 'file_search',
    vector_store_ids: storeIds,
    ...(filter === undefined ? {} : { filters: encodeFilter(filter) }),
    ...(resultsMax === undefined ? {} : { max_num_results: resultsMax }),
    ...(Object.keys(ranking).length === 0 ? {} : { ranking_options: ranking }),
  };
}
