import { createConversationObjects } from './conversation-objects.ts';
import { defaultConversationLimits } from './conversation-limits.ts';
import { createStoredItems } from './stored-items.ts';
import { createStoredResponses } from './stored-responses.ts';
import type { ConversationParts } from './conversation-parts.ts';
import type { Clock } from '../platform/clock.ts';
import { createBodySealer } from './body-sealer.ts';
import { type ConversationLimits } from './conversation-limits.ts';
import type { ConversationStore } from './conversation-store.ts';
import { guardStore } from './guard-store.ts';
import type { Conversations } from './response-store.ts';
import { createWriteQueue } from './write-queue.ts';

/**
 * Stored responses and conversations on a store.
 * @param options.key the operator's 32 bytes; stored objects can be read only with the same key
 */
export function createConversations(options: {
  readonly store: ConversationStore;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly limits?: Partial<ConversationLimits>;
}): Conversations {
  const store = guardStore(options.store);
  const parts: ConversationParts = {
    store,
    write: createWriteQueue(store),
    sealer: createBodySealer(options.key),
    clock: options.clock,
    limits: { ...defaultConversationLimits, ...options.limits },
  };
  return { ...createStoredResponses(parts), ...createStoredItems(parts), ...createConversationObjects(parts) };
}
