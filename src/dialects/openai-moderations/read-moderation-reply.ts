import { filledText, numberOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/** The result of one input. All categories are kept, also unknown ones. */
export type ModerationResult = {
  readonly flagged: boolean;
  readonly categories: Readonly<Record<string, boolean>>;
  readonly scores: Readonly<Record<string, number>>;
};

export type ModerationReply = { readonly results: readonly ModerationResult[]; readonly servedModel?: string; readonly replyId?: string };

/**
 * Reads a reply of `/v1/moderations`. Undefined if it does not judge every input, because unjudged content must not
 * look harmless.
 */
export function readModerationReply(body: JsonObject, inputs: number): ModerationReply | undefined {
  const { results } = body;
  if (!Array.isArray(results) || results.length !== inputs) return undefined;
  const read: ModerationResult[] = [];
  for (const item of results as readonly JsonValue[]) {
    const result = isJsonObject(item) ? readResult(item) : undefined;
    if (result === undefined) return undefined;
    read.push(result);
  }
  const servedModel = filledText(body['model']);
  const replyId = filledText(body['id']);
  return { results: read, ...(servedModel !== undefined && { servedModel }), ...(replyId !== undefined && { replyId }) };
}

function readResult({ flagged, categories, category_scores: scores }: JsonObject): ModerationResult | undefined {
  if (typeof flagged !== 'boolean' || !isJsonObject(categories) || !isJsonObject(scores)) return undefined;
  const flags = Object.entries(categories).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean');
  const numbers = Object.entries(scores).filter((entry): entry is [string, number] => numberOf(entry[1]) !== undefined);
  return { flagged, categories: Object.fromEntries(flags), scores: Object.fromEntries(numbers) };
}
