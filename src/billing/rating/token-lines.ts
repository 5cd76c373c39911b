import type { Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import type { TokenPrices } from './parse-price-book.ts';

const tokensPerPrice = 1_000_000;

/**
 * What a meter costs where the list names no price of its own: cached input without a cache price is input, a one-hour cache write
 * without one is a five-minute write, audio without one is priced like text.
 */
const meterPrices = {
  input: ({ input }) => input,
  input_audio: ({ inputAudio, input }) => inputAudio ?? input,
  cache_read: ({ cacheRead, input }) => cacheRead ?? input,
  cache_read_audio: ({ cacheReadAudio, cacheRead, input }) => cacheReadAudio ?? cacheRead ?? input,
  cache_write_5m: ({ cacheWrite5m, input }) => cacheWrite5m ?? input,
  cache_write_1h: ({ cacheWrite1h, cacheWrite5m, input }) => cacheWrite1h ?? cacheWrite5m ?? input,
  output: ({ output }) => output,
  output_audio: ({ outputAudio, output }) => outputAudio ?? output,
} as const satisfies Record<string, (prices: TokenPrices) => string>;

type TokenMeter = keyof typeof meterPrices;

/** Charge lines for the tokens of a call at one tier's prices. Unknown and zero counts give no line. */
export function tokenLines(usage: Usage, prices: TokenPrices, multipliers: ChargeLine['multipliers']): ChargeLine[] {
  const [inputText, inputAudio] = split(usage.inputTokens, usage.inputAudioTokens, prices.inputAudio);
  const [readText, readAudio] = split(usage.cacheReadTokens, usage.cacheReadAudioTokens, prices.cacheReadAudio);
  const [outputText, outputAudio] = split(usage.outputTokens, usage.outputAudioTokens, prices.outputAudio);
  const lines: ChargeLine[] = [];
  const add = (meter: TokenMeter, quantity: number): void => {
    if (quantity === 0) return;
    const line = { meter, quantity, unitPrice: meterPrices[meter](prices), per: tokensPerPrice };
    lines.push(multipliers === undefined ? line : { ...line, multipliers });
  };
  add('input', inputText);
  add('input_audio', inputAudio);
  add('cache_read', readText);
  add('cache_read_audio', readAudio);
  add('cache_write_5m', usage.cacheWrite5mTokens ?? 0);
  add('cache_write_1h', usage.cacheWrite1hTokens ?? 0);
  add('output', outputText);
  add('output_audio', outputAudio);
  return lines;
}

/** Parts the audio from a count where audio has a price of its own. A vendor that reports more audio than tokens is not believed. */
function split(total: number | undefined, audio: number | undefined, audioPrice: string | undefined): [text: number, audio: number] {
  if (audioPrice === undefined) return [total ?? 0, 0];
  const audioPart = Math.min(audio ?? 0, total ?? 0);
  return [(total ?? 0) - audioPart, audioPart];
}
