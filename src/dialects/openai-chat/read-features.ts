import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { RequestFeatures } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { collectText, collectToolNames, joinOpening, readSessionId } from '../conversation-opening.ts';

/** Reads what a request holds besides text. */
export function readFeatures({ body }: WireRequest): RequestFeatures {
  const { messages, tools, functions, modalities } = body;
  const found = { images: false, documents: false, audio: Array.isArray(modalities) && modalities.includes('audio') };
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    // An earlier reply that was spoken is named by its id.
    if (isJsonObject(message.audio)) found.audio = true;
    readParts(message.content, found);
  }
  return { ...found, tools: isFilled(tools) || isFilled(functions) };
}

function isFilled(list: JsonValue | undefined): boolean {
  return Array.isArray(list) && list.length > 0;
}

function readParts(content: JsonValue | undefined, found: { images: boolean; documents: boolean; audio: boolean }): void {
  if (!Array.isArray(content)) return;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'image_url' || part.type === 'video_url') found.images = true;
    else if (part.type === 'input_audio' || part.type === 'audio_url') found.audio = true;
    else if (part.type === 'file') found.documents = true;
  }
}

/** Reads which conversation a call belongs to. `user` and `safety_identifier` name people, who have many. */
export function readConversation({ body }: WireRequest): string {
  return readSessionId(body.prompt_cache_key) ?? readOpening(body);
}

function readOpening({ messages, tools, functions }: WireRequest['body']): string {
  let system = '';
  let firstTurn = '';
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    if (message.role !== 'system' && message.role !== 'developer') {
      firstTurn = collectText(message.content);
      break;
    }
    system += collectText(message.content);
    // System messages are few; a list of nothing else is read no further.
    if (system.length > 2048) break;
  }
  return joinOpening(system, collectToolNames(tools ?? functions, nameOf), firstTurn);
}

function nameOf(tool: JsonValue): JsonValue | undefined {
  if (!isJsonObject(tool)) return undefined;
  const named = tool.function ?? tool.custom;
  return isJsonObject(named) ? named.name : (tool.name ?? tool.type);
}
