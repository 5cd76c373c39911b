import { estimateTokens } from '../../inference/count-text-characters.ts';
import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import type { InputMeasure } from '../../inference/measure-input.ts';
import type { Usage } from '../../inference/usage.ts';

/** The facts of a call before it is made that decide its usage. */
export type UsageForecast = {
  /** The size of the model's input: the request, and the conversation that it continues. */
  readonly input: InputMeasure;
  /** Characters of text in it: the basis of the estimate. */
  readonly inputCharacters: number;
  /** The requested limit of output tokens, for all replies together. Undefined: none. */
  readonly outputTokensMax?: number | undefined;
  /** The number of requested replies; absent: one. */
  readonly replies?: number | undefined;
  /**
   * The assumed output tokens of each reply without a limit; undefined: as many as the model can write, or else its
   * context.
   */
  readonly outputTokensDefault?: number | undefined;
  /** Tools of the request that the vendor may run and bill by use. */
  readonly builtInTools?: readonly BuiltInToolKind[] | undefined;
  /** Limits of the model: output tokens of one reply, and tokens of input and output together. */
  readonly modelOutputTokensMax?: number | undefined;
  readonly contextTokensMax?: number | undefined;
};

/** The expected usage of a call by the best estimate, and the highest possible usage. */
export type UsageBounds = { readonly expected: Usage; readonly most: Usage };

/** Vendors add a preamble to a conversation: a few tokens, and up to about 1,500 if there are tools. */
const preambleTokens = 256;
const toolPreambleTokens = 2048;
/** The tokens of an image: at most about 5,000 with the present models of every vendor. */
const imageTokensMax = 8192;
const imageTokensExpected = 1024;
/**
 * The tokens of pages of a document, or of a recording, beyond the bytes of the file. A file that is referenced by
 * address has no bytes here.
 */
const fileTokensMax = 131_072;
const fileTokensExpected = 4096;
/** The highest output of a model without known limits. */
const unknownOutputTokens = 128_000;
/**
 * The assumed uses of each tool in one call if its request allows no more, and the tokens that each use adds to the
 * input. They match the vendors' own limits.
 */
const toolUsesMax = 10;
const foundTokensMax = 8192;

/** What vendors bill by use of each kind of tool. Code runs are billed by container, of which a call has one. */
const toolMeters: Readonly<Record<BuiltInToolKind, (uses: number) => Usage>> = {
  'web-search': (uses) => ({ webSearches: uses }),
  'file-search': (uses) => ({ fileSearches: uses }),
  'url-context': (uses) => ({ webFetches: uses }),
  'code-execution': () => ({ codeSessions: 1 }),
  'image-generation': () => ({}),
};
/** The expected output without any other limit: the same as rate limits assume. */
const outputTokensExpected = 1024;

/**
 * Bounds the usage of a call that is billed in tokens before it is made: text by its bytes, media by the vendors'
 * limits, output by its limit. The basis of holds and of quotes; pure.
 */
export function estimateUsage(forecast: UsageForecast): UsageBounds {
  const { input, contextTokensMax = Infinity, builtInTools = [] } = forecast;
  const outputMax = boundOutput(forecast);
  const preamble = input.offersTools ? toolPreambleTokens : preambleTokens;
  const read = input.textBytes + preamble + input.images * imageTokensMax + input.fileBytes + input.files * fileTokensMax;
  const uses = Math.max(toolUsesMax, input.toolUses ?? 0);
  const found = builtInTools.length * uses * foundTokensMax;
  // Results of a vendor's tools are read in further rounds of the vendor, and all of them are billed.
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

/** The usage of some tools with this number of uses each. */
function useTools(kinds: readonly BuiltInToolKind[], uses: number): Usage {
  if (kinds.length === 0) return {};
  const counts = kinds.reduce<Usage>((sum, kind) => ({ ...sum, ...toolMeters[kind](uses) }), {});
  return { ...counts, toolCalls: kinds.length * uses };
}

/**
 * A limit above the model's own is replaced by that. The limit of several replies together is that of each times their
 * number, and may exceed the model's own.
 */
function boundOutput({ outputTokensMax, outputTokensDefault, replies = 1, ...model }: UsageForecast): number {
  if (outputTokensMax !== undefined) return Math.max(0, outputTokensMax);
  const { modelOutputTokensMax = model.contextTokensMax ?? unknownOutputTokens } = model;
  return replies * Math.min(outputTokensDefault ?? modelOutputTokensMax, modelOutputTokensMax);
}
