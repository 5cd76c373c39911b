import type { Usage, UsageReport } from '../../inference/usage.ts';
import { countOf, membersOf } from '../../platform/json/json-readers.ts';

/**
 * Corrects the usage of Converse by its own total, which is the sum of the four counts if all is right. Some streams
 * count tokens that were written to the cache twice (langchain-ai/langchain-aws#983), and some count cached tokens as
 * input too (maximhq/bifrost#6942). A report that neither explains is kept and is not trustworthy.
 */
export function correctConverse(report: UsageReport): UsageReport {
  const { usage, raw } = report;
  const { inputTokens: input = 0, outputTokens: output = 0, cacheReadTokens: read = 0 } = usage;
  const written = (usage.cacheWrite5mTokens ?? 0) + (usage.cacheWrite1hTokens ?? 0);
  const total = countOf(membersOf(raw).totalTokens);
  if (total === undefined || read + written === 0 || total === input + output + read + written) return report;
  if (total === input + output + read + written / 2) return { ...report, usage: { ...usage, ...halve(usage) } };
  if (total === input + output && input >= read + written) return { ...report, usage: { ...usage, inputTokens: input - read - written } };
  return { ...report, trustworthy: false };
}

function halve({ cacheWrite5mTokens, cacheWrite1hTokens }: Usage): Usage {
  return {
    ...(cacheWrite5mTokens !== undefined && { cacheWrite5mTokens: cacheWrite5mTokens / 2 }),
    ...(cacheWrite1hTokens !== undefined && { cacheWrite1hTokens: cacheWrite1hTokens / 2 }),
  };
}
