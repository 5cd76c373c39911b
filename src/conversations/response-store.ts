import type { JsonObject } from '../platform/json/json-value.ts';

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** An upstream that keeps a response itself, under the same id: there a chain can go on without its history. */
export type ResponseKeeper = { readonly upstream: string; readonly credential: string };

/** A response as it is kept: whose it is, what was said to it, and what it said. */
export type StoredResponse = {
  readonly id: string;
  readonly userName: string;
  readonly keyId: string;
  readonly createdAtMs: number;
  /** From then on it is as if it had never been. */
  readonly expiresAtMs: number;
  readonly status: ResponseStatus;
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly keeper?: ResponseKeeper;
  /** The items of this request alone, each with an id; what came before is reached over `previousResponseId` or the conversation. */
  readonly input: readonly JsonObject[];
  /** The response object as the client sees it. Its `output` is what the next turn goes on from. */
  readonly response: JsonObject;
  /** Until when whoever generates it is known to live. Only while it is queued or in progress; after that moment it has failed. */
  readonly leaseUntilMs?: number;
};

/** A conversation object: items in order, to which responses are appended. */
export type Conversation = {
  readonly id: string;
  readonly userName: string;
  readonly createdAtMs: number;
  /** For how long it is kept after its last change. Undefined: until it is deleted. */
  readonly keptMs?: number;
  readonly metadata: JsonObject;
};

/** One page of items. */
export type ItemPage = { readonly items: readonly JsonObject[]; readonly hasMore: boolean };

export type PageQuery = {
  /** The id after which the page begins, in the order asked for. */
  readonly after?: string;
  /** From 1 to 100. */
  readonly limit: number;
  readonly order: 'asc' | 'desc';
};

/**
 * Stored responses and conversations. Everything is asked for with the user it belongs to: what is another's is answered like what does not
 * exist, with undefined or false. What `save…` and `append…` resolved is on disk, for every process that shares the store.
 * All reject with GatewayError: `responses_unavailable` when the store cannot be reached or what it holds cannot be read, `context_length_exceeded`
 * for a history too large to be read at once, `request_too_large` or `invalid_value` for what is too large to be kept.
 */
export type Conversations = {
  /**
   * Adds a response, or replaces one of the same id and user that is queued or in progress. False where that has ended or was deleted: it stays so,
   * and whoever generates it may stop. `previousResponseId` counts when it is added. Throws RangeError for an id that cannot be stored.
   */
  readonly saveResponse: (response: StoredResponse) => Promise<boolean>;
  readonly findResponse: (userName: string, id: string) => Promise<StoredResponse | undefined>;
  /** Forgets it. What later responses were made from stays reachable over them, and goes with the last of them. */
  readonly deleteResponse: (userName: string, id: string) => Promise<boolean>;
  /**
   * All items up to and with a response, oldest first: of each response of the chain its input, then its output. Undefined where the response is
   * unknown, deleted or expired. One look-up, whatever else is stored.
   */
  readonly readChain: (userName: string, id: string) => Promise<readonly JsonObject[] | undefined>;
  /**
   * The items that were the input of a response, those of earlier responses of its chain included, a page of them. Rejects with `invalid_value` for an
   * `after` that is not among them.
   */
  readonly listInputItems: (userName: string, id: string, page: PageQuery) => Promise<ItemPage | undefined>;
  /** Stored items of the user by their ids, whichever response or conversation holds them. Unknown ones are left out. */
  readonly findItems: (userName: string, ids: readonly string[]) => Promise<ReadonlyMap<string, JsonObject>>;
  /** Keeps the one who generates a response alive in the eyes of all; see `leaseUntilMs`. */
  readonly extendLease: (userName: string, id: string, untilMs: number) => Promise<boolean>;

  /** Keeps events of a background response: JSON texts, numbered from `firstSequence` without gaps. */
  readonly appendEvents: (userName: string, id: string, firstSequence: number, events: readonly string[]) => Promise<void>;
  /** Events whose number is greater than `after`, in order, at most `limit` of them. */
  readonly readEvents: (userName: string, id: string, after: number, limit: number) => Promise<readonly string[]>;

  readonly createConversation: (conversation: Conversation, items: readonly JsonObject[]) => Promise<void>;
  readonly findConversation: (userName: string, id: string) => Promise<Conversation | undefined>;
  readonly updateConversation: (userName: string, id: string, metadata: JsonObject) => Promise<Conversation | undefined>;
  readonly deleteConversation: (userName: string, id: string) => Promise<boolean>;
  /** Adds items, each with an id, at the end; not those that it has already. False where the conversation is unknown. */
  readonly appendItems: (userName: string, id: string, items: readonly JsonObject[]) => Promise<boolean>;
  /** All items, oldest first; undefined where the conversation is unknown. */
  readonly readConversation: (userName: string, id: string) => Promise<readonly JsonObject[] | undefined>;
  readonly listConversationItems: (userName: string, id: string, page: PageQuery) => Promise<ItemPage | undefined>;
  readonly findConversationItem: (userName: string, id: string, itemId: string) => Promise<JsonObject | undefined>;
  readonly deleteConversationItem: (userName: string, id: string, itemId: string) => Promise<boolean>;
  /**
   * Takes a conversation for one response until `untilMs`, so that no second one goes on from the same point. False while another has it;
   * undefined where it is unknown. Taking it again with the same holder extends it.
   */
  readonly lockConversation: (userName: string, id: string, holder: string, untilMs: number) => Promise<boolean | undefined>;
  readonly unlockConversation: (userName: string, id: string, holder: string) => Promise<void>;
};
