/** Limits of stored objects and of reads. */
export type ConversationLimits = {
  /** JSON bytes of a response: its input and the response object. */
  readonly responseBytesMax: number;
  /** Sealed bytes of a chain, a conversation or items in one read. */
  readonly historyBytesMax: number;
  readonly conversationItemsMax: number;
};

const mebibyte = 1024 * 1024;

export const defaultConversationLimits: ConversationLimits = {
  responseBytesMax: 32 * mebibyte,
  historyBytesMax: 64 * mebibyte,
  conversationItemsMax: 10_000,
};
