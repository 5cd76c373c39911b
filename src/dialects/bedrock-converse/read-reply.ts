import { filledText, itemsOf, membersOf, objectsOf, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply, ReplyReport } from '../chat-dialect.ts';
import { describeGuardrail } from '../guardrail-findings.ts';
import { decodeUsage } from './decode-usage.ts';

/** Reads a whole reply of Converse. */
export function readReply(reply: unknown): ReplyReport {
  if (!isJsonObject(reply)) return { outputCharacters: 0, error: { message: 'The upstream sent no JSON object.' } };
  const content = objectsOf(membersOf(membersOf(reply.output).message).content);
  const usageReport = decodeUsage(reply.usage, reply.serviceTier);
  const stopReason = textOf(reply.stopReason);
  const error = findError(reply, content);
  return {
    ...(usageReport !== undefined && { usageReport }),
    ...(stopReason !== undefined && { stopReason }),
    outputCharacters: content.reduce((total, block) => total + countBlockCharacters(block), 0),
    ...(error !== undefined && { error }),
  };
}

function findError(reply: JsonObject, content: readonly JsonObject[]): ErrorInReply | undefined {
  if (isPromptRefused(reply.stopReason, reply.usage)) {
    const message = content.flatMap(({ text }) => filledText(text) ?? []).join('\n');
    return { message, status: 400, filtered: describeGuardrail(membersOf(reply.trace).guardrail) };
  }
  const message = filledText(reply.message);
  return reply.output === undefined && message !== undefined ? { message } : undefined;
}

/**
 * Whether a guardrail refused the prompt, so that no model has seen it. Its intervention in a reply, which may be a
 * masked name, is the end of that reply.
 */
export function isPromptRefused(stopReason: unknown, usage: unknown): boolean {
  return stopReason === 'guardrail_intervened' && membersOf(usage).outputTokens === 0;
}

function countBlockCharacters({ text, toolUse, reasoningContent }: JsonObject): number {
  const { reasoningText } = membersOf(reasoningContent);
  const input = membersOf(toolUse).input;
  const thoughts = textOf(membersOf(reasoningText).text) ?? '';
  return (
    (textOf(text) ?? '').length + thoughts.length + (isJsonObject(input) || itemsOf(input).length > 0 ? JSON.stringify(input).length : 0)
  );
}
