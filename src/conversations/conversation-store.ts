import type { ResponseStatus } from './response-store.ts';

/** Encrypted bytes, in their own memory. */
type Sealed = Uint8Array<ArrayBuffer>;

/** A response as it is stored. Content is sealed; fields that the store searches are not. */
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
  /** The response object without its output, and further data of this domain. */
  readonly head: Sealed;
  readonly input: Sealed;
  readonly output: Sealed;
};

type ItemPart = 'input' | 'output';

/** The position of an item of a response, by its key; see `findItems`. */
export type ItemPlace = { readonly key: string; readonly part: ItemPart };

export type SealedConversation = {
  readonly id: string;
  readonly userName: string;
  readonly createdAtMs: number;
  /** How long it is stored after its last change. Undefined: until it is deleted. */
  readonly keptMs?: number;
  readonly head: Sealed;
};

/** An item of a conversation. Its key is unique to user and item id. */
export type SealedItem = { readonly key: string; readonly sealed: Sealed };

type Named = { readonly userName: string; readonly id: string; readonly nowMs: number };

/** One write. Each has its own outcome. */
export type ConversationWrite =
  /**
   * Adds a response, or replaces one that is queued or in progress. `refused` if it has ended or was deleted: a late
   * write neither undoes a cancellation nor restores a deleted response. The predecessor is fixed when the response is
   * added.
   */
  | { readonly type: 'put-response'; readonly response: SealedResponse; readonly items: readonly ItemPlace[] }
  /**
   * Deletes a response and its events; `unknown` if there is none. Its items stay as long as a later response needs
   * them.
   */
  | ({ readonly type: 'delete-response' } & Named)
  /** Marks a response as failed if it still has this expired lease; otherwise `unknown`. */
  | ({ readonly type: 'fail-response'; readonly leaseUntilMs: number; readonly head: Sealed } & Named)
  /** `unknown` if no such response is queued or in progress. */
  | ({ readonly type: 'extend-lease'; readonly untilMs: number } & Named)
  /** Stores `count` events, numbered from `firstSequence`. `unknown` if there is no such response. */
  | ({ readonly type: 'append-events'; readonly firstSequence: number; readonly count: number; readonly sealed: Sealed } & Named)
  /** `refused` if the id exists already. */
  | { readonly type: 'put-conversation'; readonly conversation: SealedConversation; readonly items: readonly SealedItem[] }
  | ({ readonly type: 'update-conversation'; readonly head: Sealed } & Named)
  | ({ readonly type: 'delete-conversation' } & Named)
  /** Appends the items that the conversation does not have yet. `unknown`, or `refused` beyond `itemsMax` items. */
  | ({ readonly type: 'append-items'; readonly items: readonly SealedItem[]; readonly itemsMax: number } & Named)
  | ({ readonly type: 'delete-item'; readonly key: string } & Named)
  /** `refused` while another holder has the lock. */
  | ({ readonly type: 'lock-conversation'; readonly holder: string; readonly untilMs: number } & Named)
  | ({ readonly type: 'unlock-conversation'; readonly holder: string } & Named);

/** `failed`: the database refused it. */
export type WriteOutcome = 'done' | 'unknown' | 'refused' | 'failed';

/** The part of a chain that one response adds. */
export type ChainLink = Pick<SealedResponse, 'id' | 'input' | 'output'>;

export type FoundItem = {
  readonly key: string;
  /** The response or conversation that contains it. */
  readonly holderId: string;
  /** A part of a response contains other items too; in a conversation each item is sealed separately. */
  readonly part: ItemPart | 'item';
  readonly sealed: Sealed;
};

export type SealedPage = { readonly items: readonly SealedItem[]; readonly hasMore: boolean };

/**
 * The store that this domain needs. Every query includes the user. Objects of other users, deleted ones, and those that
 * have expired at `nowMs` are not found. The cost of a query depends only on its result.
 */
export type ConversationStore = {
  /** Executes the writes in order, in one transaction. They are on disk when it resolves. */
  readonly writeConversations: (writes: readonly ConversationWrite[]) => Promise<readonly WriteOutcome[]>;
  readonly findSealedResponse: (query: Named) => Promise<SealedResponse | undefined>;
  /** A response and all its predecessors, oldest first. `too-large` if the sealed items exceed `bytesMax`. */
  readonly readSealedChain: (query: Named & { readonly bytesMax: number }) => Promise<readonly ChainLink[] | 'too-large' | undefined>;
  /**
   * Items by key, from responses and conversations: the last added item of each key. Reading stops after the item that
   * exceeds `bytesMax`.
   */
  readonly findSealedItems: (query: {
    readonly userName: string;
    readonly keys: readonly string[];
    readonly nowMs: number;
    readonly bytesMax: number;
  }) => Promise<readonly FoundItem[]>;
  /** Batches with the events after number `after`, in order; only as many as contain `limit` events. */
  readonly readSealedEvents: (
    query: Named & { readonly after: number; readonly limit: number },
  ) => Promise<readonly { readonly firstSequence: number; readonly sealed: Sealed }[]>;
  readonly findSealedConversation: (query: Named) => Promise<SealedConversation | undefined>;
  /** Items in order, after the item with the key `after`; `bad-cursor` if the conversation does not have that item. */
  readonly listSealedItems: (
    query: Named & { readonly after?: string; readonly limit: number; readonly order: 'asc' | 'desc'; readonly bytesMax: number },
  ) => Promise<SealedPage | 'bad-cursor' | 'too-large' | undefined>;
  readonly findSealedItem: (query: Named & { readonly key: string }) => Promise<SealedItem | undefined>;
  /**
   * Deletes objects that have expired at `nowMs`, and deleted ones that no response needs; at most about `rowsMax`
   * rows. Returns their number: `rowsMax` or more means that there may be more.
   */
  readonly sweepConversations: (limits: { readonly nowMs: number; readonly rowsMax: number }) => Promise<number>;
};
