import type { JsonObject } from '../platform/json/json-value.ts';

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** An upstream that stores a response itself under the same id. A chain can continue there without its history. */
export type ResponseKeeper = { readonly upstream: string; readonly credential: string };

/** A stored response: its user, its input and its output. */
export type StoredResponse = {
  readonly id: string;
  readonly userName: string;
  readonly keyId: string;
  readonly createdAtMs: number;
  /** From this time on it does not exist for clients. */
  readonly expiresAtMs: number;
  readonly status: ResponseStatus;
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly keeper?: ResponseKeeper;
  /**
   * The items of this request only, each with an id. Earlier items are found through `previousResponseId` or the
   * conversation.
   */
  readonly input: readonly JsonObject[];
  /** The response object as the client sees it. The next request of the chain continues from its `output`. */
  readonly response: JsonObject;
  /** The lease of the process that generates it, while it is queued or in progress. After this time it has failed. */
  readonly leaseUntilMs?: number;
};

/** A conversation object: items in order, to which responses are appended. */
export type Conversation = {
  readonly id: string;
  readonly userName: string;
  readonly createdAtMs: number;
  /** How long it is stored after its last change. Undefined: until it is deleted. */
  readonly keptMs?: number;
  readonly metadata: JsonObject;
};

export type ItemPage = { readonly items: readonly JsonObject[]; readonly hasMore: boolean };

export type PageQuery = {
  /** The page begins after this id, in the requested order. */
  readonly after?: string;
  /** From 1 to 100. */
  readonly limit: number;
  readonly order: 'asc' | 'desc';
};

/**
 * Stored responses and conversations. Every query includes the user: another user's object is answered like one that
 * does not exist, with undefined or false. When `save…` or `append…` resolves, the object is on disk, for every process
 * that shares the store. All methods reject with GatewayError: `responses_unavailable` if the store is unreachable or
 * an object cannot be read, `context_length_exceeded` for a history that is too large for one read, `request_too_large`
 * or `invalid_value` for objects that are too large to store.
 */
export type Conversations = {
  /**
   * Adds a response, or replaces one of the same id and user that is queued or in progress. False if that response has
   * ended or was deleted: it stays so, and its generation may stop. `previousResponseId` counts when it is added.
   * Throws RangeError for an id that cannot be stored.
   */
  readonly saveResponse: (response: StoredResponse) => Promise<boolean>;
  readonly findResponse: (userName: string, id: string) => Promise<StoredResponse | undefined>;
  /** Deletes it. Its items stay reachable through later responses, and are deleted with the last of them. */
  readonly deleteResponse: (userName: string, id: string) => Promise<boolean>;
  /**
   * All items up to and including a response, oldest first: the input and the output of each response of the chain.
   * Undefined if the response is unknown, deleted or expired. It takes one query.
   */
  readonly readChain: (userName: string, id: string) => Promise<readonly JsonObject[] | undefined>;
  /**
   * A page of the input items of a response, including the items of earlier responses of its chain. Rejects with
   * `invalid_value` if `after` is not among them.
   */
  readonly listInputItems: (userName: string, id: string, page: PageQuery) => Promise<ItemPage | undefined>;
  /** Stored items of the user by their ids, from any response or conversation. Unknown ids are omitted. */
  readonly findItems: (userName: string, ids: readonly string[]) => Promise<ReadonlyMap<string, JsonObject>>;
  /** Extends the lease of a response that is being generated; see `leaseUntilMs`. */
  readonly extendLease: (userName: string, id: string, untilMs: number) => Promise<boolean>;

  /** Stores events of a background response: JSON texts, numbered from `firstSequence` without gaps. */
  readonly appendEvents: (userName: string, id: string, firstSequence: number, events: readonly string[]) => Promise<void>;
  /** Events whose number is greater than `after`, in order, at most `limit` of them. */
  readonly readEvents: (userName: string, id: string, after: number, limit: number) => Promise<readonly string[]>;

  readonly createConversation: (conversation: Conversation, items: readonly JsonObject[]) => Promise<void>;
  readonly findConversation: (userName: string, id: string) => Promise<Conversation | undefined>;
  readonly updateConversation: (userName: string, id: string, metadata: JsonObject) => Promise<Conversation | undefined>;
  readonly deleteConversation: (userName: string, id: string) => Promise<boolean>;
  /** Appends items, each with an id; existing ones are skipped. False if the conversation is unknown. */
  readonly appendItems: (userName: string, id: string, items: readonly JsonObject[]) => Promise<boolean>;
  /** All items, oldest first; undefined if the conversation is unknown. */
  readonly readConversation: (userName: string, id: string) => Promise<readonly JsonObject[] | undefined>;
  readonly listConversationItems: (userName: string, id: string, page: PageQuery) => Promise<ItemPage | undefined>;
  readonly findConversationItem: (userName: string, id: string, itemId: string) => Promise<JsonObject | undefined>;
  readonly deleteConversationItem: (userName: string, id: string, itemId: string) => Promise<boolean>;
  /**
   * Locks a conversation for one response until `untilMs`, so that no second response continues from the same point.
   * False while another holder has it; undefined if it is unknown. A repeated lock by the same holder extends it.
   */
  readonly lockConversation: (userName: string, id: string, holder: string, untilMs: number) => Promise<boolean | undefined>;
  readonly unlockConversation: (userName: string, id: string, holder: string) => Promise<void>;
};
