import type { BuiltInToolKind } from './inference-request.ts';

/** The facts of a validated request by which it is routed, admitted and priced, in any dialect. */
export type CallFacts = {
  /** The model name exactly as the client wrote it. */
  readonly requestedModel: string;
  /** Whether the reply is a stream. */
  readonly stream: boolean;
  /** The client's bound on output tokens. Absent: the client set none. */
  readonly outputTokensMax?: number;
  /** How many replies the client requests. Absent: one. A bound on output tokens applies to all of them together. */
  readonly replies?: number;
  /**
   * Characters of text in the request, without inline media. Input is estimated from them if the upstream reports no
   * count.
   */
  readonly inputCharacters: number;
  /** Names of tools that need an ability of the upstream, for example `thread`. */
  readonly needs: readonly CallNeed[];
  /** Built-in tools that the request offers to the model, each kind once. Absent: none. */
  readonly builtInTools?: readonly BuiltInToolKind[];
  /** Whether the conversation is compacted rather than continued. Absent: no. */
  readonly compacts?: boolean;
  /** Whether the vendor may compact the conversation within the call, and bill that beside the reply. Absent: no. */
  readonly vendorCompacts?: boolean;
  /** Whether the reply must be JSON or match a JSON schema exactly. Absent: no. */
  readonly strictSchema?: boolean;
  /** The stored reply that this call continues; the upstream has it. It must belong to the caller. */
  readonly continues?: { readonly replyId: string; readonly param: string };
  /** Whether the upstream stores the reply, so that a later call can continue it by its id. */
  readonly keepsReply?: boolean;
};

export type CallNeed = 'threads';
