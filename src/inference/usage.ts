/**
 * What one call used, as disjoint counts: total input = inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens.
 * A count that nobody reported is absent; a reported zero is 0. Source: docs/reference/usage.md.
 */
export type Usage = {
  /** Input tokens that were neither read from nor written to a cache. */
  readonly inputTokens?: number;
  readonly cacheReadTokens?: number;
  /** Cache writes that live for five minutes, and those of vendors that name no lifetime. */
  readonly cacheWrite5mTokens?: number;
  readonly cacheWrite1hTokens?: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens?: number;
  /** The part of outputTokens spent on reasoning. */
  readonly reasoningTokens?: number;
  /** The part of inputTokens that was audio, where the vendor says so. */
  readonly inputAudioTokens?: number;
  /** The part of cacheReadTokens that was audio. */
  readonly cacheReadAudioTokens?: number;
  /** The part of outputTokens that was audio. */
  readonly outputAudioTokens?: number;
  /** The part of inputTokens that was pictures, where the vendor says so. */
  readonly inputImageTokens?: number;
  /** The part of cacheReadTokens that was pictures. */
  readonly cacheReadImageTokens?: number;
  /** The part of outputTokens that was pictures. */
  readonly outputImageTokens?: number;
  /** Web searches (or search queries, as the vendor counts them) that the vendor ran and bills. */
  readonly webSearches?: number;
  /** Code points of text that was read out, where speech is billed by them. */
  readonly inputCharacters?: number;
  /** Milliseconds of sound that were transcribed or translated, where they are billed. */
  readonly inputAudioMs?: number;
  /** Milliseconds of video that were made. What a second costs depends on the resolution, which is a pricing parameter and no count. */
  readonly outputVideoMs?: number;
  /** Pictures that a video was made from. */
  readonly inputImages?: number;
  /** Milliseconds of sound that were made, where they are billed. */
  readonly outputAudioMs?: number;
  /** Pictures that were made, where they are billed by the piece. */
  readonly outputImages?: number;
  /** Pages that the vendor read. */
  readonly webFetches?: number;
  /** Searches of files that the vendor ran. */
  readonly fileSearches?: number;
  /** Uses of other tools that the vendor ran. */
  readonly toolCalls?: number;
  /** Containers in which the vendor ran code for this call. */
  readonly codeSessions?: number;
};

/**
 * What a price depends on besides counts. By name: what the gateway or the vendor's reply says in a word, for example `resolution`: `720p`. By JSON pointer: a value of the body that
 * is sent upstream, as JSON text, for example `/metadata/quality`: `"hd"`; `[3]` and `{3}` stand for an array and an object of three members.
 */
export type PricingParameters = Readonly<Record<string, string>>;

/** What built-in tools did that the gateway ran itself, each with a price of its own. */
export type ToolUsage = {
  readonly webSearches?: number;
  readonly fileSearches?: number;
  readonly codeExecutions?: number;
  /** Pages that were read because the model named them. */
  readonly pagesRead?: number;
};

/** Usage as one reply reports it. */
export type UsageReport = {
  readonly usage: Usage;
  /** The usage object exactly as the vendor wrote it (merged, for streams), kept in the ledger row as evidence. */
  readonly raw: unknown;
  /** False when a count was malformed (a string, negative, fractional, beyond 2^53): it was left out, and the row is marked estimated. */
  readonly trustworthy: boolean;
  /** Set in a stream that went on after its last count of output: what came after it is not in that count. */
  readonly outputGoesOn?: true;
  /** The service tier the vendor says it used: it decides the price multiplier. */
  readonly serviceTier?: string;
  /** Words of the reply that a price may depend on: `inference_geo`, `speed`. */
  readonly replyParameters?: PricingParameters;
};
