import type { meters, toolMeters } from './meters.ts';

/**
 * What one call used, as disjoint counts, which `meters.ts` lists: total input = inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens.
 * A count that nobody reported is absent; a reported zero is 0. Source: docs/reference/usage.md.
 */
export type Usage = { readonly [Name in keyof typeof meters]?: number };

/**
 * What a price depends on besides counts. By name: what the gateway or the vendor's reply says in a word, for example `resolution`: `720p`. By JSON pointer: a value of the body that
 * is sent upstream, as JSON text, for example `/metadata/quality`: `"hd"`; `[3]` and `{3}` stand for an array and an object of three members.
 */
export type PricingParameters = Readonly<Record<string, string>>;

/** What built-in tools did that the gateway ran itself, each with a price of its own. */
export type ToolUsage = { readonly [Name in keyof typeof toolMeters]?: number };

/** Usage as one reply reports it. */
export type UsageReport = {
  readonly usage: Usage;
  /** The usage object exactly as the vendor wrote it (merged, for streams), kept in the ledger row as evidence. */
  readonly raw: unknown;
  /** False when a count was malformed (a string, negative, fractional, beyond 2^53): it was left out, and the row is marked estimated. */
  readonly trustworthy: boolean;
  /** Set in a stream that went on after its last count of output: what came after it is not in that count. */
  readonly outputGoesOn?: true;
  /** The part of inputTokens that the vendor's own tools put into the prompt, where the vendor says so: charged as input, and told to clients whose dialect has a word for it. */
  readonly toolPromptTokens?: number;
  /** Set where the vendor said which input was text, sound or pictures: what is named nowhere was text then. */
  readonly splitsInput?: true;
  /** The service tier the vendor says it used: it decides the price multiplier. */
  readonly serviceTier?: string;
  /** Words of the reply that a price may depend on: `inference_geo`, `speed`. */
  readonly replyParameters?: PricingParameters;
};
