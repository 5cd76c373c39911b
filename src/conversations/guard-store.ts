import { GatewayError } from '../inference/gateway-error.ts';
import type { ConversationStore } from './conversation-store.ts';

/** Wraps a store, and turns its failures into errors for clients. The operator sees the cause. */
export function guardStore(store: ConversationStore): ConversationStore {
  const guard =
    <Query, Result>(method: (query: Query) => Promise<Result>) =>
    async (query: Query): Promise<Result> => {
      try {
        return await method(query);
      } catch (cause) {
        const internal = cause instanceof Error ? cause.message : 'the store threw a value that is not an Error';
        throw new GatewayError('responses_unavailable', 'stored responses are unavailable at the moment; retry', {
          retryAfterSeconds: 1,
          internal,
          cause,
        });
      }
    };
  return {
    writeConversations: guard(store.writeConversations),
    findSealedResponse: guard(store.findSealedResponse),
    readSealedChain: guard(store.readSealedChain),
    findSealedItems: guard(store.findSealedItems),
    readSealedEvents: guard(store.readSealedEvents),
    findSealedConversation: guard(store.findSealedConversation),
    listSealedItems: guard(store.listSealedItems),
    findSealedItem: guard(store.findSealedItem),
    sweepConversations: guard(store.sweepConversations),
  };
}
