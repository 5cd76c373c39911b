import type { ResponseStatus } from './response-store.ts';

/** Bytes that only the domain can read. They own their memory. */
type Sealed = Uint8Array<ArrayBuffer>;

/** A response as the store keeps it. What was said is sealed; what has to be looked for is not. */
export type SealedResponse = {
  readonly id: string;
  readonly userName: string;
  readonly keyId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly status: ResponseStatus;
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly leaseUntilMs?: number;
  /** The response object without its output, and what else the domain keeps of it. */
  readonly head: Sealed;
  readonly input: Sealed;
  readonly output: Sealed;
};

type ItemPart = 'input' | 'output';

/** Where an item of a response can be found by its key; see `findItems`. */
export type ItemPlace = { readonly key: string; readonly part: ItemPart };

export type SealedConversation = {
  readonly id: string;
  readonly userName: string;
  readonly createdAtMs: number;
  /** For how long it is kept after its last change. Undefined: until it is deleted. */
  readonly keptMs?: number;
  readonly head: Sealed;
};

/** An item of a conversation. Its key is unique to user and item id. */
export type SealedItem = { readonly key: string; readonly sealed: Sealed };

type Named = { readonly userName: string; readonly id: string; readonly nowMs: number };

/** One change. What it comes to is said for each of them. */
export type ConversationWrite =
  /**
   * Adds a response, or replaces one that is queued or in progress. `refused` where it has ended or was deleted: nothing is changed then, so that
   * whoever comes late neither undoes a cancellation nor brings back what was deleted. Who the predecessor is, is settled when it is added.
   */
  | { readonly type: 'put-response'; readonly response: SealedResponse; readonly items: readonly ItemPlace[] }
  /** Forgets a response and its events; `unknown` where there is none. Its items stay for as long as a later response needs them. */
  | ({ readonly type: 'delete-response' } & Named)
  /** Marks a response as failed whose lease is still the one that has passed; `unknown` where it is not. */
  | ({ readonly type: 'fail-response'; readonly leaseUntilMs: number; readonly head: Sealed } & Named)
  /** `unknown` where there is no such response that is queued or in progress. */
  | ({ readonly type: 'extend-lease'; readonly untilMs: number } & Named)
  /** Keeps `count` events, the first of which has number `firstSequence`. `unknown` where there is no such response. */
  | ({ readonly type: 'append-events'; readonly firstSequence: number; readonly count: number; readonly sealed: Sealed } & Named)
  /** `refused` where the id is taken. */
  | { readonly type: 'put-conversation'; readonly conversation: SealedConversation; readonly items: readonly SealedItem[] }
  | ({ readonly type: 'update-conversation'; readonly head: Sealed } & Named)
  | ({ readonly type: 'delete-conversation' } & Named)
  /** Adds at the end what the conversation does not have yet. `unknown`, or `refused` where it would hold more than `itemsMax`. */
  | ({ readonly type: 'append-items'; readonly items: readonly SealedItem[]; readonly itemsMax: number } & Named)
  | ({ readonly type: 'delete-item'; readonly key: string } & Named)
  /** `refused` while another holder has it. */
  | ({ readonly type: 'lock-conversation'; readonly holder: string; readonly untilMs: number } & Named)
  | ({ readonly type: 'unlock-conversation'; readonly holder: string } & Named);

/** `failed`: the database would not take it, for a reason of its own. */
export type WriteOutcome = 'done' | 'unknown' | 'refused' | 'failed';

/** What one response adds to a chain. */
export type ChainLink = Pick<SealedResponse, 'id' | 'input' | 'output'>;

export type FoundItem = {
  readonly key: string;
  /** The response or conversation that holds it. */
  readonly holderId: string;
  /** A part of a response holds other items besides; in a conversation each item is sealed by itself. */
  readonly part: ItemPart | 'item';
  readonly sealed: Sealed;
};

export type SealedPage = { readonly items: readonly SealedItem[]; readonly hasMore: boolean };

/**
 * What the conversations domain needs of a store. Everything is looked for together with its user; what is another's, has been deleted or has
 * expired at `nowMs` is not found. Whatever is kept, a look-up costs only what it finds.
 */
export type ConversationStore = {
  /** Carries out the writes in their order, in one transaction: they are on the disk when it resolves. */
  readonly writeConversations: (writes: readonly ConversationWrite[]) => Promise<readonly WriteOutcome[]>;
  readonly findSealedResponse: (query: Named) => Promise<SealedResponse | undefined>;
  /** A response and all it goes on from, the oldest first. Reading stops as `too-large` once the sealed items exceed `bytesMax`. */
  readonly readSealedChain: (query: Named & { readonly bytesMax: number }) => Promise<readonly ChainLink[] | 'too-large' | undefined>;
  /** Items by key, whoever holds them: for each key the one that was added last. Reading stops after the one that exceeds `bytesMax`. */
  readonly findSealedItems: (query: {
    readonly userName: string;
    readonly keys: readonly string[];
    readonly nowMs: number;
    readonly bytesMax: number;
  }) => Promise<readonly FoundItem[]>;
  /** Batches that hold the events after number `after`, in order; no more than are needed for `limit` of them. */
  readonly readSealedEvents: (
    query: Named & { readonly after: number; readonly limit: number },
  ) => Promise<readonly { readonly firstSequence: number; readonly sealed: Sealed }[]>;
  readonly findSealedConversation: (query: Named) => Promise<SealedConversation | undefined>;
  /** Items in order, from behind the one with the key `after`; `bad-cursor` where the conversation does not have that. */
  readonly listSealedItems: (
    query: Named & { readonly after?: string; readonly limit: number; readonly order: 'asc' | 'desc'; readonly bytesMax: number },
  ) => Promise<SealedPage | 'bad-cursor' | 'too-large' | undefined>;
  readonly findSealedItem: (query: Named & { readonly key: string }) => Promise<SealedItem | undefined>;
  /**
   * Deletes what has expired at `nowMs`, and what was deleted and is needed by nobody any more; at most about `rowsMax` rows. Returns how many:
   * as many as `rowsMax` means that there may be more.
   */
  readonly sweepConversations: (limits: { readonly nowMs: number; readonly rowsMax: number }) => Promise<number>;
};
