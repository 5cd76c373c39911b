import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { ReplyReport } from '../chat-dialect.ts';
import { decodeUsage } from './decode-usage.ts';
import { readError } from './read-error.ts';

/**
 * Reads a whole Messages reply. A body with an `error` member and no content, or a body that is not an object, is an
 * error with status 200.
 */
export function readReply(reply: unknown): ReplyReport {
  if (!isJsonObject(reply)) return { outputCharacters: 0, error: { message: 'The upstream sent no JSON object.' } };
  const usageReport = decodeUsage(reply.usage);
  return {
    ...(usageReport !== undefined && { usageReport }),
    ...(typeof reply.model === 'string' && { servedModel: reply.model }),
    ...(typeof reply.id === 'string' && { replyId: reply.id }),
    ...(typeof reply.stop_reason === 'string' && { stopReason: reply.stop_reason }),
    outputCharacters: countContentCharacters(reply.content),
    ...((reply.type === 'error' || isErrorMember(reply.error)) && { error: readError(reply.error, reply) }),
  };
}

function countContentCharacters(content: JsonValue | undefined): number {
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((total, block) => total + countBlockCharacters(block), 0);
}

/**
 * Counts the characters that the model generated in a block: text, thinking and tool input. Results of the vendor's
 * tools, signatures and encrypted thinking do not count.
 */
export function countBlockCharacters(block: unknown): number {
  if (!isJsonObject(block)) return 0;
  switch (typeof block.type === 'string' ? block.type : '') {
    case 'text':
      return lengthOf(block.text);
    case 'thinking':
      return lengthOf(block.thinking);
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return countInputCharacters(block.input);
    default:
      return 0;
  }
}

/** A stream announces the input `{}` before the arguments arrive, so it counts as nothing. */
function countInputCharacters(input: JsonValue | undefined): number {
  if (typeof input === 'string') return input.length;
  if (!isJsonObject(input) || Object.keys(input).length === 0) return 0;
  return JSON.stringify(input).length;
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);

/** Some servers send null or an empty text with every good reply. */
const isErrorMember = (error: JsonValue | undefined): boolean => (typeof error === 'string' && error !== '') || isJsonObject(error);
