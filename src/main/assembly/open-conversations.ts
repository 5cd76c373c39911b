import { createConversations } from '../../conversations/create-conversations.ts';
import type { Conversations } from '../../conversations/response-store.ts';
import { startConversationSweeper } from '../../conversations/sweep-conversations.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

/**
 * Opens the stored responses and conversations, and begins to delete expired ones. Closed by `opened`. Throws
 * StartError without a usable key.
 */
export function openConversations(
  { environment, store, clock, logger }: { environment: Environment; store: Store; clock: Clock; logger: Logger },
  opened: AsyncDisposableStack,
): Conversations {
  const conversations = createConversations({ store, key: loadStoreKey(environment), clock });
  const sweeper = startConversationSweeper({ store, clock, logger, random: Math.random });
  opened.defer(() => sweeper.close());
  return conversations;
}
