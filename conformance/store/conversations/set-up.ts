import { randomBytes } from 'node:crypto';

import type { JsonObject } from '../../../src/platform/json/json-value.ts';
import type { ConversationStore } from '../../../src/conversations/conversation-store.ts';
import { createConversations } from '../../../src/conversations/create-conversations.ts';
import type { Conversations, StoredResponse } from '../../../src/conversations/response-store.ts';

/** The start of a set-up's clock. */
export const startMs = 1_800_000_000_000;
export const hour = 3_600_000;

/** A response whose texts contain its id, with characters that are difficult for encodings and databases. */
export function createResponse(id: string, changes: Partial<StoredResponse> = {}): StoredResponse {
  return {
    id,
    userName: 'anna',
    keyId: 'key_1',
    createdAtMs: startMs,
    expiresAtMs: startMs + 100 * hour,
    status: 'completed',
    input: [{ id: `in_${id}`, type: 'message', role: 'user', content: [{ type: 'input_text', text: `${id} \0 \ud800 ' 模型` }] }],
    response: {
      id,
      object: 'response',
      output: [{ id: `out_${id}`, type: 'message', role: 'assistant', content: [] }],
      usage: null,
      metadata: {},
    },
    ...changes,
  };
}

export const idsOf = (items: readonly JsonObject[] | undefined): readonly unknown[] | undefined => items?.map((item) => item['id']);

/** The domain on a store, with a clock that the test advances. */
export function setUpConversations(store: ConversationStore, key: Uint8Array = randomBytes(32)) {
  let nowMs = startMs;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  return {
    conversations: createConversations({ store, key, clock, limits: { conversationItemsMax: 30 } }),
    pass: (ms: number) => (nowMs += ms),
    sweep: async (rowsMax = 1000) => await store.sweepConversations({ nowMs, rowsMax }),
  };
}

/** Saves a chain, the oldest first. */
export async function saveChain(
  conversations: Conversations,
  ids: readonly string[],
  changes: Partial<StoredResponse> = {},
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const previousResponseId = ids[index - 1];
    await conversations.saveResponse(
      createResponse(id, { ...(previousResponseId === undefined ? {} : { previousResponseId }), ...changes }),
    );
  }
}
