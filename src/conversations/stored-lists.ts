import type { OwnedRemoval, ScopedList } from '../accounts/scoped-list.ts';
import type { ResponseStatus } from './response-store.ts';

/** A stored response without its content. */
export type ResponseSummary = {
  readonly id: string;
  readonly userName: string;
  readonly keyId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** A response whose lease has lapsed is `failed`. */
  readonly status: ResponseStatus;
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  /** The stored responses that continue this one, deleted ones that others need included. */
  readonly followers: number;
  /** Sealed bytes. */
  readonly bytes: number;
  /** Grows with its status, and stays after its end. */
  readonly version: number;
};

/** A conversation object without its content. */
export type ConversationSummary = {
  readonly id: string;
  readonly userName: string;
  readonly createdAtMs: number;
  /** Absent: it is kept until it is deleted. */
  readonly expiresAtMs?: number;
  readonly items: number;
  /** Sealed bytes. */
  readonly bytes: number;
  /** Grows with each added or deleted item. */
  readonly version: number;
};

type Living = ScopedList & { readonly id?: string; readonly nowMs: number };
type ResponseQuery = Living & {
  readonly keyId?: string;
  readonly statuses?: readonly ResponseStatus[];
  readonly previousResponseId?: string;
  readonly conversationId?: string;
};
type StoredRemoval = OwnedRemoval & { readonly nowMs: number };

/**
 * What the people who administer users may do with their stored responses and conversations, newest first. Deleted and
 * expired ones do not exist. All methods reject with the store's error.
 */
export type ConversationLists = {
  readonly queryResponses: (query: ResponseQuery) => Promise<readonly ResponseSummary[]>;
  readonly queryConversations: (query: Living) => Promise<readonly ConversationSummary[]>;
  /** Deletes a response as its owner would. False if it does not exist. */
  readonly removeResponse: (removal: StoredRemoval) => Promise<boolean>;
  readonly removeConversation: (removal: StoredRemoval) => Promise<boolean>;
};
