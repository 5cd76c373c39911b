import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { ReplyReport } from '../chat-dialect.ts';
import { decodeUsage } from './decode-usage.ts';
import { isError, readError } from './read-error.ts';

/**
 * Reads a whole chat completion. A body with an `error` member, or one that is not an object, is an error inside a 200.
 */
export function readReply(reply: unknown): ReplyReport {
  if (!isJsonObject(reply)) return { outputCharacters: 0, error: { message: 'The upstream sent no JSON object.' } };
  const usageReport = decodeUsage(reply.usage, reply.service_tier);
  const report: { -readonly [Member in keyof ReplyReport]: ReplyReport[Member] } = { outputCharacters: 0 };
  if (usageReport !== undefined) report.usageReport = usageReport;
  if (typeof reply.model === 'string') report.servedModel = reply.model;
  for (const choice of Array.isArray(reply.choices) ? reply.choices : []) {
    if (!isJsonObject(choice)) continue;
    if (report.stopReason === undefined && typeof choice.finish_reason === 'string') report.stopReason = choice.finish_reason;
    report.outputCharacters += countGeneratedCharacters(choice.message);
  }
  if (isError(reply.error)) report.error = readError(reply.error, reply);
  return report;
}

/**
 * Characters that the model generated in a message or a delta. Servers name their reasoning `reasoning_content` or
 * `reasoning`, and some send both with the same text.
 */
export function countGeneratedCharacters(message: JsonValue | undefined): number {
  if (!isJsonObject(message)) return 0;
  const functionCall = isJsonObject(message.function_call) ? message.function_call.arguments : undefined;
  const transcript = isJsonObject(message.audio) ? message.audio.transcript : undefined;
  return (
    countTextCharacters(message.content) +
    countTextCharacters(message.reasoning_content ?? message.reasoning) +
    countTextCharacters(message.refusal) +
    countTextCharacters(transcript) +
    countArguments(functionCall) +
    (Array.isArray(message.tool_calls) ? message.tool_calls.reduce<number>((total, call) => total + countCall(call), 0) : 0)
  );
}

function countCall(call: unknown): number {
  const { function: called, custom } = membersOf(call);
  return countArguments(membersOf(called).arguments) + countArguments(membersOf(custom).input);
}

/** Some servers send arguments as an object where the vendor sends JSON text. */
function countArguments(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length;
  return isJsonObject(value) ? JSON.stringify(value).length : 0;
}
