import type { ReplyReport } from '../../dialects/chat-dialect.ts';

/**
 * A report of which only so much output is charged as the client was handed: what the upstream says of its output beyond that does not count, and what it says of the input does.
 * @param outputCharacters those that were handed over
 */
export function limitToDelivered(report: ReplyReport, outputCharacters: number): ReplyReport {
  const { usageReport } = report;
  if (usageReport === undefined) return { ...report, outputCharacters };
  const { outputTokens: _all, reasoningTokens: _thought, outputAudioTokens: _sound, ...usage } = usageReport.usage;
  return { ...report, outputCharacters, usageReport: { ...usageReport, usage } };
}
