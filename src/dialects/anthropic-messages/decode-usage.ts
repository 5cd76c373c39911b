import { createCountReader, type CountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/**
 * Reads a Messages `usage` object. Its counts are already disjoint: `input_tokens` excludes cache reads and writes,
 * `output_tokens` includes thinking. The totals leave out compactions of the conversation, which are billed too and
 * listed only in `iterations` (platform.claude.com/docs, "Compaction"). Undefined if the reply has none; anything but
 * an object is an untrustworthy report without counts.
 */
export function decodeUsage(raw: unknown): UsageReport | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isJsonObject(raw)) return { usage: {}, raw, trustworthy: false };
  const counts = createCountReader();
  const inputTokens = counts.read(raw.input_tokens);
  const cacheReadTokens = counts.read(raw.cache_read_input_tokens);
  const outputTokens = counts.read(raw.output_tokens);
  const reasoningTokens = isJsonObject(raw.output_tokens_details) ? counts.read(raw.output_tokens_details.thinking_tokens) : undefined;
  const tools = isJsonObject(raw.server_tool_use) ? raw.server_tool_use : undefined;
  const webSearches = counts.read(tools?.web_search_requests);
  const webFetches = counts.read(tools?.web_fetch_requests);
  const own: Usage = {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...decodeCacheWrites(raw, counts),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(webSearches !== undefined && { webSearches }),
    ...(webFetches !== undefined && { webFetches }),
  };
  const usage = Array.isArray(raw.iterations) ? withCompactions(own, raw.iterations, counts) : own;
  const serviceTier = raw.service_tier;
  return {
    usage,
    raw,
    trustworthy: counts.trustworthy(),
    ...(typeof serviceTier === 'string' && { serviceTier }),
    ...readReplyParameters(raw),
  };
}

/** Adds the tokens that the vendor's own compactions of the conversation read and wrote. */
function withCompactions(own: Usage, iterations: readonly JsonValue[], counts: CountReader): Usage {
  let usage = own;
  for (const pass of iterations) {
    if (!isJsonObject(pass) || pass.type !== 'compaction') continue;
    const { cacheWrite5mTokens, cacheWrite1hTokens } = decodeCacheWrites(pass, counts);
    usage = {
      ...usage,
      ...add('inputTokens', usage, counts.read(pass.input_tokens)),
      ...add('cacheReadTokens', usage, counts.read(pass.cache_read_input_tokens)),
      ...add('cacheWrite5mTokens', usage, cacheWrite5mTokens),
      ...add('cacheWrite1hTokens', usage, cacheWrite1hTokens),
      ...add('outputTokens', usage, counts.read(pass.output_tokens)),
    };
  }
  return usage;
}

type TokenCount = 'inputTokens' | 'cacheReadTokens' | 'cacheWrite5mTokens' | 'cacheWrite1hTokens' | 'outputTokens';

const add = (name: TokenCount, usage: Usage, tokens: number | undefined): Usage =>
  tokens === undefined ? {} : { [name]: (usage[name] ?? 0) + tokens };

/** Reads the region and the speed of inference, which have prices of their own. */
function readReplyParameters({ inference_geo: geo, speed }: JsonObject): Pick<UsageReport, 'replyParameters'> {
  if (typeof geo !== 'string' && typeof speed !== 'string') return {};
  return {
    replyParameters: {
      ...(typeof geo === 'string' && { inference_geo: geo.slice(0, 64) }),
      ...(typeof speed === 'string' && { speed: speed.slice(0, 64) }),
    },
  };
}

/**
 * Reads cache writes. The total is `cache_creation_input_tokens`; `cache_creation` splits it by lifetime if the server
 * reports it. The rest counts as five minutes, the vendor's default, unless only one-hour writes were made.
 */
function decodeCacheWrites(raw: JsonObject, counts: CountReader): Pick<Usage, 'cacheWrite5mTokens' | 'cacheWrite1hTokens'> {
  const total = counts.read(raw.cache_creation_input_tokens);
  const split = isJsonObject(raw.cache_creation) ? raw.cache_creation : {};
  const fiveMinutes = counts.read(split.ephemeral_5m_input_tokens);
  const oneHour = counts.read(split.ephemeral_1h_input_tokens);
  if (fiveMinutes === undefined && oneHour === undefined) return total === undefined ? {} : { cacheWrite5mTokens: total };
  const unnamed = Math.max(0, (total ?? 0) - (fiveMinutes ?? 0) - (oneHour ?? 0));
  const onlyOneHour = oneHour !== undefined && oneHour > 0 && (fiveMinutes ?? 0) === 0;
  return {
    cacheWrite5mTokens: (fiveMinutes ?? 0) + (onlyOneHour ? 0 : unnamed),
    ...(oneHour !== undefined && { cacheWrite1hTokens: oneHour + (onlyOneHour ? unnamed : 0) }),
  };
}

/**
 * Merges two usage objects of one stream. Counts are cumulative, so the larger value of each field is correct: some
 * servers repeat the prompt counts in the last event, some report them only there, and some send a zero there that must
 * not replace the first report. For other fields the later value applies, and null changes nothing.
 */
export function mergeUsage(earlier: JsonValue | undefined, later: JsonValue | undefined): JsonValue | undefined {
  if (later === undefined || later === null) return earlier;
  if (earlier === undefined || earlier === null) return later;
  if (typeof earlier === 'number') return largerCount(earlier, later);
  if (!isJsonObject(earlier) || !isJsonObject(later)) return isJsonObject(earlier) ? earlier : later;
  const fields = new Set([...Object.keys(earlier), ...Object.keys(later)]);
  return Object.fromEntries([...fields].map((field) => [field, mergeUsage(memberOf(earlier, field), memberOf(later, field))]));
}

const memberOf = (object: JsonObject, field: string): JsonValue | undefined => (Object.hasOwn(object, field) ? object[field] : undefined);

const isCount = (value: JsonValue): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** A malformed count must not replace a good one. Its report is marked untrustworthy when it is decoded. */
function largerCount(earlier: number, later: JsonValue): JsonValue {
  if (typeof later !== 'number' || !isCount(later)) return earlier;
  return isCount(earlier) ? Math.max(earlier, later) : later;
}
