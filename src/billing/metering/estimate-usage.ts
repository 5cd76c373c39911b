import { estimateTokens } from '../../inference/count-text-characters.ts';
import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import type { InputMeasure } from '../../inference/measure-input.ts';
import type { Usage } from '../../inference/usage.ts';

/** What is known of a call before it is made, of that which it may use. */
export type UsageForecast = {
  /** How large what the model reads is: its request, and the conversation that it goes on from. */
  readonly input: InputMeasure;
  /** Characters of text in it: what the estimate is made from. */
  readonly inputCharacters: number;
  /** Output tokens that were asked for at most, for all replies together. Undefined: no bound was set. */
  readonly outputTokensMax?: number | undefined;
  /** Replies that are asked for at once; absent: one. */
  readonly replies?: number | undefined;
  /** Output tokens that are reckoned with for each reply where no bound was set; undefined: as many as the model can write, or else read. */
  readonly outputTokensDefault?: number | undefined;
  /** Tools that the request offers and the vendor may run and bill by use. */
  readonly builtInTools?: readonly BuiltInToolKind[] | undefined;
  /** What is known of the model: the most that it writes in one reply, and that it reads and writes together. */
  readonly modelOutputTokensMax?: number | undefined;
  readonly contextTokensMax?: number | undefined;
};

/** What a call will use by the best estimate, and what it uses at most. */
export type UsageBounds = { readonly expected: Usage; readonly most: Usage };

/** Vendors put words of their own before a conversation: a few, and up to some 1,500 tokens where there are tools. */
const preambleTokens = 256;
const toolPreambleTokens = 2048;
/** A picture is at most some 5,000 tokens with every vendor's present models. */
const imageTokensMax = 8192;
const imageTokensExpected = 1024;
/** What pages of a document, or a recording, may come to beyond the bytes in which they are written. What lies elsewhere has no bytes here. */
const fileTokensMax = 131_072;
const fileTokensExpected = 4096;
/** What a model writes at most of which nothing is known. */
const unknownOutputTokens = 128_000;
/** How often one call is reckoned to use each tool, where its request does not allow more, and what each use brings the model to read. The vendors' own bounds lie there. */
const toolUsesMax = 10;
const foundTokensMax = 8192;

/** What vendors bill by use of each kind of tool. Code that runs is billed by its container, of which a call has one. */
const toolMeters: Readonly<Record<BuiltInToolKind, (uses: number) => Usage>> = {
  'web-search': (uses) => ({ webSearches: uses }),
  'file-search': (uses) => ({ fileSearches: uses }),
  'url-context': (uses) => ({ webFetches: uses }),
  'code-execution': () => ({ codeSessions: 1 }),
};
/** What replies come to where nothing says more: the same that rate limits reckon with. */
const outputTokensExpected = 1024;

/**
 * Bounds what a call in tokens may use before it is made: what text comes to is bounded by its bytes, media by what they come to with the vendors, output by its bound. The
 * estimate of holds and of quotes; pure.
 */
export function estimateUsage(forecast: UsageForecast): UsageBounds {
  const { input, contextTokensMax = Infinity, builtInTools = [] } = forecast;
  const outputMax = boundOutput(forecast);
  const preamble = input.offersTools ? toolPreambleTokens : preambleTokens;
  const read = input.textBytes + preamble + input.images * imageTokensMax + input.fileBytes + input.files * fileTokensMax;
  const uses = Math.max(toolUsesMax, input.toolUses ?? 0);
  const found = builtInTools.length * uses * foundTokensMax;
  // What a vendor's tools find is read in further rounds of its own, and all of them are billed.
  const inputMax = Math.min(read, contextTokensMax) + found;
  const inputExpected = Math.min(
    estimateTokens(forecast.inputCharacters) + input.images * imageTokensExpected + input.files * fileTokensExpected,
    inputMax,
  );
  return {
    expected: { inputTokens: inputExpected, outputTokens: Math.min(outputTokensExpected, outputMax), ...useTools(builtInTools, 1) },
    most: { inputTokens: inputMax, outputTokens: outputMax, ...useTools(builtInTools, uses) },
  };
}

/** So many uses of each of some tools. */
function useTools(kinds: readonly BuiltInToolKind[], uses: number): Usage {
  if (kinds.length === 0) return {};
  const counts = kinds.reduce<Usage>((sum, kind) => ({ ...sum, ...toolMeters[kind](uses) }), {});
  return { ...counts, toolCalls: kinds.length * uses };
}

/** A model that writes no more than so much is not reckoned with more. A bound on several replies together is that of each times their number, and passes the model's own. */
function boundOutput({ outputTokensMax, outputTokensDefault, replies = 1, ...model }: UsageForecast): number {
  if (outputTokensMax !== undefined) return Math.max(0, outputTokensMax);
  const { modelOutputTokensMax = model.contextTokensMax ?? unknownOutputTokens } = model;
  return replies * Math.min(outputTokensDefault ?? modelOutputTokensMax, modelOutputTokensMax);
}
