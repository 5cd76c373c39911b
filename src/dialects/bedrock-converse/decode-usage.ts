import { createCountReader, type CountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { objectsOf, textOf, membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';

/**
 * Reads the `usage` of Converse. Its counts are disjoint: `inputTokens` excludes what was read from the cache or
 * written to it. Undefined if the reply has none; anything but an object is an untrustworthy report without counts.
 * Source: TokenUsage and CacheDetail of the Bedrock API reference.
 * @param tier the `serviceTier` beside it
 */
export function decodeUsage(raw: unknown, tier?: unknown): UsageReport | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isJsonObject(raw)) return { usage: {}, raw, trustworthy: false };
  const counts = createCountReader();
  const inputTokens = counts.read(raw.inputTokens);
  const cacheReadTokens = counts.read(raw.cacheReadInputTokens);
  const outputTokens = counts.read(raw.outputTokens);
  const usage: Usage = {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...decodeCacheWrites(raw, counts),
    ...(outputTokens !== undefined && { outputTokens }),
  };
  const serviceTier = textOf(membersOf(tier).type);
  return { usage, raw, trustworthy: counts.trustworthy(), ...(serviceTier !== undefined && { serviceTier }) };
}

/** The details split the total by lifetime. The rest counts as five minutes, the default. */
function decodeCacheWrites(raw: JsonObject, counts: CountReader): Pick<Usage, 'cacheWrite5mTokens' | 'cacheWrite1hTokens'> {
  const total = counts.read(raw.cacheWriteInputTokens);
  const split = { '5m': 0, '1h': 0 };
  for (const { ttl, inputTokens } of objectsOf(raw.cacheDetails)) {
    if (ttl === '5m' || ttl === '1h') split[ttl] += counts.read(inputTokens) ?? 0;
  }
  const unnamed = Math.max(0, (total ?? 0) - split['5m'] - split['1h']);
  if (total === undefined && split['5m'] + split['1h'] === 0) return {};
  return { cacheWrite5mTokens: split['5m'] + unnamed, ...(split['1h'] > 0 && { cacheWrite1hTokens: split['1h'] }) };
}
