/** What may be stored and read at once. */
export type ConversationLimits = {
  /** JSON bytes of a response: its input and all of the response object. */
  readonly responseBytesMax: number;
  /** Sealed bytes of a chain, of a conversation or of items that are read at once. */
  readonly historyBytesMax: number;
  readonly conversationItemsMax: number;
};

const mebibyte = 1024 * 1024;

export const defaultConversationLimits: ConversationLimits = {
  responseBytesMax: 32 * mebibyte,
  historyBytesMax: 64 * mebibyte,
  conversationItemsMax: 10_000,
};
