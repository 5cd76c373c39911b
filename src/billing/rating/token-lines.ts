import type { Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import type { TokenPrices } from './price-book-schema.ts';

export const tokensPerPrice = 1_000_000;

/**
 * What a meter costs where the list names no price of its own: cached input without a cache price is input, a one-hour cache write
 * without one is a five-minute write, audio and pictures without one are priced like text, and reasoning like other output.
 */
const meterPrices = {
  input: ({ input }) => input,
  input_audio: ({ inputAudio, input }) => inputAudio ?? input,
  input_image: ({ inputImage, input }) => inputImage ?? input,
  cache_read: ({ cacheRead, input }) => cacheRead ?? input,
  cache_read_audio: ({ cacheReadAudio, cacheRead, input }) => cacheReadAudio ?? cacheRead ?? input,
  cache_read_image: ({ cacheReadImage, cacheRead, input }) => cacheReadImage ?? cacheRead ?? input,
  cache_write_5m: ({ cacheWrite5m, input }) => cacheWrite5m ?? input,
  cache_write_1h: ({ cacheWrite1h, cacheWrite5m, input }) => cacheWrite1h ?? cacheWrite5m ?? input,
  output: ({ output }) => output,
  output_audio: ({ outputAudio, output }) => outputAudio ?? output,
  output_image: ({ outputImage, output }) => outputImage ?? output,
  reasoning: ({ reasoning, output }) => reasoning ?? output,
} as const satisfies Record<string, (prices: TokenPrices) => string>;

type TokenMeter = keyof typeof meterPrices;

const outputMeters: ReadonlySet<string> = new Set(['output', 'output_audio', 'output_image', 'reasoning']);

/** The prices that a token of input and one of output can have at a tier, whatever kind of token it turns out to be. */
export function possiblePrices(prices: TokenPrices): { readonly input: readonly string[]; readonly output: readonly string[] } {
  const all = Object.entries(meterPrices).map(([meter, priceOf]) => [meter, priceOf(prices)] as const);
  const pick = (isOutput: boolean): string[] => all.filter(([meter]) => outputMeters.has(meter) === isOutput).map(([, price]) => price);
  return { input: pick(false), output: pick(true) };
}

/** Charge lines for the tokens of a call at one tier's prices. Unknown and zero counts give no line. */
export function tokenLines(usage: Usage, prices: TokenPrices, multipliers: ChargeLine['multipliers']): ChargeLine[] {
  const { inputTokens = 0, cacheReadTokens = 0, outputTokens = 0 } = usage;
  const inputAudio = partOf(inputTokens, usage.inputAudioTokens, prices.inputAudio);
  const inputImage = partOf(inputTokens - inputAudio, usage.inputImageTokens, prices.inputImage);
  const readAudio = partOf(cacheReadTokens, usage.cacheReadAudioTokens, prices.cacheReadAudio);
  const readImage = partOf(cacheReadTokens - readAudio, usage.cacheReadImageTokens, prices.cacheReadImage);
  const outputAudio = partOf(outputTokens, usage.outputAudioTokens, prices.outputAudio);
  const outputImage = partOf(outputTokens - outputAudio, usage.outputImageTokens, prices.outputImage);
  const reasoning = partOf(outputTokens - outputAudio - outputImage, usage.reasoningTokens, prices.reasoning);
  const lines: ChargeLine[] = [];
  const add = (meter: TokenMeter, quantity: number): void => {
    if (quantity === 0) return;
    const line = { meter, quantity, unitPrice: meterPrices[meter](prices), per: tokensPerPrice };
    lines.push(multipliers === undefined ? line : { ...line, multipliers });
  };
  add('input', inputTokens - inputAudio - inputImage);
  add('input_audio', inputAudio);
  add('input_image', inputImage);
  add('cache_read', cacheReadTokens - readAudio - readImage);
  add('cache_read_audio', readAudio);
  add('cache_read_image', readImage);
  add('cache_write_5m', usage.cacheWrite5mTokens ?? 0);
  add('cache_write_1h', usage.cacheWrite1hTokens ?? 0);
  add('output', outputTokens - outputAudio - outputImage - reasoning);
  add('output_audio', outputAudio);
  add('output_image', outputImage);
  add('reasoning', reasoning);
  return lines;
}

/** How much of a count is of a kind that has a price of its own. A vendor that reports more of a part than of the whole is not believed. */
function partOf(total: number, part: number | undefined, price: string | undefined): number {
  return price === undefined || part === undefined ? 0 : Math.min(part, total);
}
