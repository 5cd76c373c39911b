import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { tokensOfSide } from '../../../inference/meters.ts';
import type { Usage } from '../../../inference/usage.ts';

/**
 * A report of which only so much output is charged as the client was handed: what the upstream says of its output beyond that does not count, and what it says of the input does.
 * @param outputCharacters those that were handed over
 */
export function limitToDelivered(report: ReplyReport, outputCharacters: number): ReplyReport {
  const { usageReport } = report;
  if (usageReport === undefined) return { ...report, outputCharacters };
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...usageReport.usage };
  for (const meter of tokensOfSide.output) delete usage[meter];
  return { ...report, outputCharacters, usageReport: { ...usageReport, usage } };
}
