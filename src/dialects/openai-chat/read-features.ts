import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { RequestFeatures } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { collectText, collectToolNames, joinOpening, readSessionId } from '../conversation-opening.ts';

/** Reads the contents of a request other than text. */
export function readFeatures({ body }: WireRequest): RequestFeatures {
  const { messages, tools, functions, modalities } = body;
  const features = { images: false, documents: false, audio: Array.isArray(modalities) && modalities.includes('audio') };
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    // An earlier spoken reply is referenced by its id.
    if (isJsonObject(message.audio)) features.audio = true;
    readParts(message.content, features);
  }
  return { ...features, tools: isFilled(tools) || isFilled(functions) };
}

function isFilled(list: JsonValue | undefined): boolean {
  return Array.isArray(list) && list.length > 0;
}

function readParts(content: JsonValue | undefined, features: { images: boolean; documents: boolean; audio: boolean }): void {
  if (!Array.isArray(content)) return;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'image_url' || part.type === 'video_url') features.images = true;
    else if (part.type === 'input_audio' || part.type === 'audio_url') features.audio = true;
    else if (part.type === 'file') features.documents = true;
  }
}

/** Reads the conversation of a call. `user` and `safety_identifier` identify people, who have many conversations. */
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
    // Usually there are few system messages. A list of nothing else is not read further.
    if (system.length > 2048) break;
  }
  return joinOpening(system, collectToolNames(tools ?? functions, nameOf), firstTurn);
}

function nameOf(tool: JsonValue): JsonValue | undefined {
  if (!isJsonObject(tool)) return undefined;
  const named = tool.function ?? tool.custom;
  return isJsonObject(named) ? named.name : (tool.name ?? tool.type);
}
