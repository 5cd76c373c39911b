import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { RequestFeatures } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { collectText, collectToolNames, joinOpening, readSessionId } from '../conversation-opening.ts';

/**
 * Reads the contents of a request other than text. The history behind `previous_response_id` is not in the body and is
 * not read.
 */
export function readFeatures({ body }: WireRequest): RequestFeatures {
  const { input, tools } = body;
  const features = { images: false, documents: false, audio: false };
  for (const item of Array.isArray(input) ? input : []) {
    if (!isJsonObject(item)) continue;
    readParts(item.content, features);
    // Functions may return parts, and a screen tool always returns a screenshot.
    readParts(item.output, features);
    if (item.type === 'computer_call_output') features.images = true;
  }
  return { ...features, tools: Array.isArray(tools) && tools.length > 0 };
}

function readParts(content: JsonValue | undefined, features: { images: boolean; documents: boolean; audio: boolean }): void {
  if (!Array.isArray(content)) return;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'input_image') features.images = true;
    else if (part.type === 'input_file') features.documents = true;
    else if (part.type === 'input_audio') features.audio = true;
  }
}

/** Reads the conversation of a call. `user` and `safety_identifier` identify people, who have many conversations. */
export function readConversation({ body }: WireRequest): string {
  const { prompt_cache_key: cacheKey, conversation } = body;
  return readSessionId(cacheKey) ?? readSessionId(isJsonObject(conversation) ? conversation.id : conversation) ?? readOpening(body);
}

function readOpening({ instructions, input, tools }: WireRequest['body']): string {
  let system = collectText(instructions);
  let firstTurn = typeof input === 'string' ? collectText(input) : '';
  for (const item of Array.isArray(input) ? input : []) {
    if (!isJsonObject(item)) continue;
    if (item.role !== 'system' && item.role !== 'developer') {
      firstTurn = collectText(item.content);
      break;
    }
    system += collectText(item.content);
    if (system.length > 2048) break;
  }
  return joinOpening(system, collectToolNames(tools, nameOf), firstTurn);
}

/** Tools of the vendor have no name, only their type. */
function nameOf(tool: JsonValue): JsonValue | undefined {
  return isJsonObject(tool) ? (tool.name ?? tool.type) : undefined;
}
