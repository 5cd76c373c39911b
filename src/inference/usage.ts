import type { meters, toolMeters } from './meters.ts';

/**
 * The usage of one call as disjoint counts, which `meters.ts` lists: total input = inputTokens + cacheReadTokens +
 * cacheWrite5mTokens + cacheWrite1hTokens. Absent: nobody reported the count. A reported zero is 0. Source:
 * docs/reference/usage.md.
 */
export type Usage = { readonly [Name in keyof typeof meters]?: number };

/**
 * Values other than counts that decide a price. A name has a value from the gateway or the vendor's reply, for example
 * `resolution`: `720p`. A JSON pointer has a value of the upstream's request body as JSON text, for example
 * `/metadata/quality`: `"hd"`; `[3]` and `{3}` stand for an array and an object of three members.
 */
export type PricingParameters = Readonly<Record<string, string>>;

/** Uses of built-in tools that the gateway ran. Each has a price. */
export type ToolUsage = { readonly [Name in keyof typeof toolMeters]?: number };

/** Usage as one reply reports it. */
export type UsageReport = {
  readonly usage: Usage;
  /** The usage object exactly as the vendor wrote it (merged, for streams). The ledger row stores it as evidence. */
  readonly raw: unknown;
  /**
   * False if a count was malformed (a string, negative, fractional, above 2^53). The count is left out, and the row is
   * marked as estimated.
   */
  readonly trustworthy: boolean;
  /** Set if a stream continued after its last count of output, which therefore does not include the rest. */
  readonly outputGoesOn?: true;
  /**
   * The part of inputTokens that the vendor's own tools added to the prompt, if the vendor reports it. It is charged as
   * input, and sent to clients whose dialect has a field for it.
   */
  readonly toolPromptTokens?: number;
  /** Set if the vendor reports which input was text, audio or images. Input without a kind was text then. */
  readonly splitsInput?: true;
  /** The service tier in the vendor's reply. It decides the price multiplier. */
  readonly serviceTier?: string;
  /** Values of the reply on which a price may depend: `inference_geo`, `speed`. */
  readonly replyParameters?: PricingParameters;
};
