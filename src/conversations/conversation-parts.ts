import type { Clock } from '../platform/clock.ts';
import type { createBodySealer } from './body-sealer.ts';
import type { ConversationLimits } from './conversation-limits.ts';
import type { ConversationStore } from './conversation-store.ts';
import type { createWriteQueue } from './write-queue.ts';

/** Dependencies of the parts of this domain. */
export type ConversationParts = {
  readonly store: ConversationStore;
  readonly write: ReturnType<typeof createWriteQueue>;
  readonly sealer: ReturnType<typeof createBodySealer>;
  readonly clock: Clock;
  readonly limits: ConversationLimits;
};
