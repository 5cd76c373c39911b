import { describeUnknownReply } from '../../../attempts/routing/rank-targets.ts';
import type { ReplyOwner, LedgerStore } from '../../../../billing/ledger/ledger-store.ts';
import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';

/**
 * Knows the owners of stored replies. Upstreams store replies under the operator's one credential, so they would let
 * any tenant continue any other's. Here a reply belongs only to the user whose call made it.
 */
export type ReplyOwners = {
  /** Remembers a stored reply at once, before its row is in the store. */
  readonly remember: (entry: CallEntry) => void;
  /**
   * Refuses a call that continues a reply of another user, exactly like one that continues an unknown reply. Returns
   * the id of the upstream that stores the reply: only that one can continue it.
   * @throws GatewayError `reply_not_found` (400) or `accounts_unavailable` (503)
   */
  readonly check: (continues: NonNullable<CallFacts['continues']>, userName: string) => Promise<string>;
  /** The stored reply of this id, of any user; undefined if it is unknown. Rejects as the store does. */
  readonly find: (replyId: string) => Promise<ReplyOwner | undefined>;
};

/** The most replies in memory: many times the number of those that wait for their row in the store. */
const rememberedMax = 20_000;

export function createReplyOwners({ store }: { readonly store: Pick<LedgerStore, 'findReplyOwner'> }): ReplyOwners {
  const recent = new Map<string, ReplyOwner>();
  return {
    remember: ({ replyId, userName, callId, upstream }) => {
      if (replyId === undefined) return;
      recent.set(replyId, { userName, callId, upstream });
      if (recent.size <= rememberedMax) return;
      const [oldest] = recent.keys();
      if (oldest !== undefined) recent.delete(oldest);
    },
    find: async (replyId) => recent.get(replyId) ?? (await store.findReplyOwner(replyId)),
    check: async (continues, userName) => {
      const { replyId } = continues;
      const reply = recent.get(replyId) ?? (await findOwner(store, replyId));
      if (reply?.userName !== userName) throw describeUnknownReply(continues);
      return reply.upstream;
    },
  };
}

async function findOwner(store: Pick<LedgerStore, 'findReplyOwner'>, replyId: string): Promise<ReplyOwner | undefined> {
  try {
    return await store.findReplyOwner(replyId);
  } catch (cause) {
    throw new GatewayError('accounts_unavailable', 'stored replies cannot be checked at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  }
}
