import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { ReplyReport } from '../chat-dialect.ts';
import { decodeUsage } from './decode-usage.ts';
import { isError, readError } from './read-error.ts';

/** Reads a whole chat completion. A body with an `error` member, or no object at all, is an error in a 200's clothes. */
export function readReply(reply: unknown): ReplyReport {
  if (!isJsonObject(reply)) return { outputCharacters: 0, error: { message: 'The upstream sent no JSON object.' } };
  const usageReport = decodeUsage(reply.usage, reply.service_tier);
  const choices = Array.isArray(reply.choices) ? reply.choices.filter(isJsonObject) : [];
  const stopReason = choices.map((choice) => choice.finish_reason).find((reason) => typeof reason === 'string');
  return {
    ...(usageReport !== undefined && { usageReport }),
    ...(typeof reply.model === 'string' && { servedModel: reply.model }),
    ...(typeof stopReason === 'string' && { stopReason }),
    outputCharacters: choices.reduce((total, choice) => total + countGeneratedCharacters(choice.message), 0),
    ...(isError(reply.error) && { error: readError(reply.error) }),
  };
}

/**
 * Characters that the model generated in a message or a delta. Servers name their reasoning `reasoning_content` or `reasoning`, some
 * both with the same text.
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

/** Some servers send arguments as an object where the vendor sends its JSON text. */
function countArguments(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length;
  return isJsonObject(value) ? JSON.stringify(value).length : 0;
}
