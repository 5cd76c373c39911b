import { GatewayError } from '../inference/gateway-error.ts';
import type { ConversationStore } from './conversation-store.ts';

/** The store, its failures worded for a client: they are the gateway's, pass, and are told to the operator. */
export function guardStore(store: ConversationStore): ConversationStore {
  const guard =
    <Query, Result>(method: (query: Query) => Promise<Result>) =>
    async (query: Query): Promise<Result> => {
      try {
        return await method(query);
      } catch (cause) {
        const internal = cause instanceof Error ? cause.message : 'the store threw something that is no error';
        throw new GatewayError('responses_unavailable', 'stored responses cannot be reached at the moment; try again', {
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
