import { randomBytes } from 'node:crypto';

import { type Clock, systemClock } from '../../platform/clock.ts';
import type { ConversationLimits } from '../conversation-limits.ts';
import { createConversations } from '../create-conversations.ts';
import { createFakeConversationStore } from './fake-conversation-store.ts';
import type { Conversations } from '../response-store.ts';

/** The whole domain for tests, on a store in memory. */
export function createFakeConversations(
  options: { readonly clock?: Clock; readonly limits?: Partial<ConversationLimits> } = {},
): Conversations {
  const { clock = systemClock, limits = {} } = options;
  return createConversations({ store: createFakeConversationStore(), key: randomBytes(32), clock, limits });
}
