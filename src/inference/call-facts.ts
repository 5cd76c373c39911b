import type { BuiltInToolKind } from './inference-request.ts';

/** What the gateway needs to know of a validated request to route, admit and price it, whatever its dialect. */
export type CallFacts = {
  /** The model name exactly as the client asked for it. */
  readonly requestedModel: string;
  /** Whether the reply is a stream. */
  readonly stream: boolean;
  /** Upper bound on output tokens as sent; absent when the client set none. */
  readonly outputTokensMax?: number;
  /** Replies that are asked for at once; absent: one. A bound on output tokens is that of all of them together. */
  readonly replies?: number;
  /** Characters of text in the request (inline media left out): what input is estimated from when no upstream count arrives. */
  readonly inputCharacters: number;
  /** Names of tools that need a particular upstream ability, for example `thread`. */
  readonly needs: readonly CallNeed[];
  /** Built-in tools that the request offers the model, each kind once; absent where it offers none. */
  readonly builtInTools?: readonly BuiltInToolKind[];
  /** Whether the conversation is to be compacted rather than continued. Absent: no. */
  readonly compacts?: boolean;
  /** Whether the reply has to fit a JSON schema to the letter, or has to be JSON. Absent: no. */
  readonly strictSchema?: boolean;
  /** The stored reply that this call continues, kept by the upstream. It must be the caller's own. */
  readonly continues?: { readonly replyId: string; readonly param: string };
  /** Whether the upstream keeps the reply, so that a later call may continue it by its id. */
  readonly keepsReply?: boolean;
};

export type CallNeed = 'threads';
