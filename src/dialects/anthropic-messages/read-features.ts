import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { RequestFeatures } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { collectText, collectToolNames, joinOpening, readSessionId } from '../conversation-opening.ts';

/** Reads which media and tools a request contains. The interface has no audio. */
export function readFeatures({ body }: WireRequest): RequestFeatures {
  const { messages, tools } = body;
  const found = { images: false, documents: false };
  for (const message of Array.isArray(messages) ? messages : []) if (isJsonObject(message)) readContent(message.content, found);
  return { ...found, audio: false, tools: Array.isArray(tools) && tools.length > 0 };
}

/** Tool results contain blocks of their own. */
function readContent(content: JsonValue | undefined, found: { images: boolean; documents: boolean }): void {
  if (!Array.isArray(content)) return;
  for (const block of content) {
    if (!isJsonObject(block)) continue;
    if (block.type === 'image') found.images = true;
    else if (block.type === 'document' || block.type === 'container_upload') found.documents = true;
    else if (block.type === 'tool_result') readContent(block.content, found);
  }
}

/** Finds the conversation of a call. */
export function readConversation({ body }: WireRequest): string {
  return readSession(body.metadata) ?? readOpening(body);
}

/**
 * Claude Code writes its session beside the user into `user_id`. Other programs write only a user, which is not a
 * conversation.
 */
function readSession(metadata: JsonValue | undefined): string | undefined {
  const userId = isJsonObject(metadata) ? metadata.user_id : undefined;
  return typeof userId === 'string' && userId.includes('session') ? readSessionId(userId) : undefined;
}

function readOpening({ system, tools, messages }: WireRequest['body']): string {
  const turns: readonly JsonValue[] = Array.isArray(messages) ? messages : [];
  const first = turns.find((message) => isJsonObject(message) && message.role === 'user');
  const names = collectToolNames(tools, (tool) => (isJsonObject(tool) ? tool.name : undefined));
  return joinOpening(collectText(system), names, collectText(isJsonObject(first) ? first.content : undefined));
}
