/** What the gateway needs to know of a validated request to route, admit and price it, whatever its dialect. */
export type CallFacts = {
  /** The model name exactly as the client asked for it. */
  readonly requestedModel: string;
  /** Whether the reply is a stream. */
  readonly stream: boolean;
  /** Upper bound on output tokens as sent; absent when the client set none. */
  readonly outputTokensMax?: number;
  /** Characters of text in the request (inline media left out): what input is estimated from when no upstream count arrives. */
  readonly inputCharacters: number;
  /** Names of tools that need a particular upstream ability, for example `thread`. */
  readonly needs: readonly CallNeed[];
};

export type CallNeed = 'threads';
