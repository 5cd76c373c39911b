import { createCountReader } from '../../inference/count-reader.ts';
import type { RerankReply, RerankRequest, RerankResult } from '../../inference/rerank.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { filledText, membersOf, numberOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/**
 * Reads the reply of any interface and sorts it, because some servers return results in the order of the documents.
 * Undefined if it is not a ranking of these documents.
 */
export function readRerankReply(body: JsonObject, request: Pick<RerankRequest, 'documents' | 'resultsMax'>): RerankReply | undefined {
  const list = Array.isArray(body['results']) ? body['results'] : body['data'];
  if (!Array.isArray(list)) return undefined;
  const results: RerankResult[] = [];
  const indices = new Set<number>();
  for (const item of list as readonly JsonValue[]) {
    const result = readResult(item, request.documents.length);
    if (result === undefined || indices.has(result.index)) return undefined;
    indices.add(result.index);
    results.push(result);
  }
  results.sort((one, other) => other.score - one.score || one.index - other.index);
  const usage = readUsage(body);
  const servedModel = filledText(body['model']);
  const replyId = filledText(body['id']);
  return {
    results: results.slice(0, request.resultsMax),
    ...(usage !== undefined && { usage }),
    ...(servedModel !== undefined && { servedModel }),
    ...(replyId !== undefined && { replyId }),
  };
}

function readResult(item: JsonValue, documents: number): RerankResult | undefined {
  if (!isJsonObject(item)) return undefined;
  const { index } = item;
  const score = numberOf(item['relevance_score']) ?? numberOf(item['score']);
  const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < documents;
  return isPlace && score !== undefined ? { index, score } : undefined;
}

/** Reads search units if the vendor bills them, otherwise tokens. If the vendor reports both, both are read. */
function readUsage({ meta, usage: reported }: JsonObject): UsageReport | undefined {
  const counts = createCountReader();
  const billed = membersOf(membersOf(meta)['billed_units']);
  const tokens = membersOf(membersOf(meta)['tokens']);
  const { total_tokens: total, prompt_tokens: prompt } = membersOf(reported);
  const searchUnits = counts.read(billed['search_units']);
  const inputTokens =
    counts.read(billed['input_tokens']) ?? counts.read(tokens['input_tokens']) ?? counts.read(total) ?? counts.read(prompt);
  const usage: Usage = { ...(searchUnits !== undefined && { searchUnits }), ...(inputTokens !== undefined && { inputTokens }) };
  const raw = isJsonObject(meta) ? meta : isJsonObject(reported) ? reported : undefined;
  if (raw === undefined) return undefined;
  // A ranking has no output to count.
  return { usage: inputTokens === undefined ? usage : { ...usage, outputTokens: 0 }, raw, trustworthy: counts.trustworthy() };
}
