import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import { parseDecimal } from './decimal.ts';
import { compare } from './fraction.ts';
import type { Fees, MediaPrices } from './price-book-schema.ts';

const charactersPerPrice = 1_000_000;
const msPerSecond = 1000;
const secondsPerMinute = 60;

/** Charge lines for what is not counted in tokens. Unknown and zero counts give no line, and neither does what has no price. */
export function mediaLines(
  usage: Usage,
  parameters: PricingParameters | undefined,
  prices: MediaPrices,
  multipliers?: ChargeLine['multipliers'],
): ChargeLine[] {
  const { inputCharacters = 0, inputAudioMs = 0, outputAudioMs = 0, outputVideoMs = 0, inputImages = 0, outputImages = 0 } = usage;
  const { characters, audioMinute, outputAudioMinute, videoSecond, inputImage, outputImage } = prices;
  const lines: ChargeLine[] = [];
  addLine(lines, 'characters', inputCharacters, characters, charactersPerPrice, multipliers);
  // Vendors bill each second that has begun.
  addLine(lines, 'audio_second', Math.ceil(inputAudioMs / msPerSecond), audioMinute, secondsPerMinute, multipliers);
  addLine(lines, 'output_audio_second', Math.ceil(outputAudioMs / msPerSecond), outputAudioMinute, secondsPerMinute, multipliers);
  if (videoSecond !== undefined) {
    const { name, price } = findResolution(videoSecond, parameters?.['resolution']);
    addLine(lines, `video_ms:${name}`, outputVideoMs, price, msPerSecond, multipliers);
  }
  addLine(lines, 'input_image', inputImages, inputImage, 1, multipliers);
  addLine(lines, 'output_image', outputImages, outputImage, 1, multipliers);
  return lines;
}

/** Charge lines of what comes with a call and is priced by the piece. */
export function feeLines(usage: Usage, fees: Fees, multipliers?: ChargeLine['multipliers']): ChargeLine[] {
  const { webSearches = 0, webFetches = 0, fileSearches = 0, toolCalls = 0, codeSessions = 0 } = usage;
  const lines: ChargeLine[] = [];
  addLine(lines, 'web_search', webSearches, fees.web_search, 1, multipliers);
  addLine(lines, 'grounded_prompt', Math.min(webSearches, 1), fees.grounded_prompt, 1, multipliers);
  addLine(lines, 'web_fetch', webFetches, fees.web_fetch, 1, multipliers);
  addLine(lines, 'file_search', fileSearches, fees.file_search, 1, multipliers);
  addLine(lines, 'tool_call', toolCalls, fees.tool_call, 1, multipliers);
  addLine(lines, 'code_session', codeSessions, fees.code_session, 1, multipliers);
  addLine(lines, 'call', isUsed(usage) ? 1 : 0, fees.call, 1, multipliers);
  return lines;
}

function addLine(
  lines: ChargeLine[],
  meter: string,
  quantity: number,
  unitPrice: string | undefined,
  per: number,
  multipliers: ChargeLine['multipliers'],
): void {
  if (quantity <= 0 || unitPrice === undefined) return;
  lines.push(multipliers === undefined ? { meter, quantity, unitPrice, per } : { meter, quantity, unitPrice, per, multipliers });
}

/** Whether anything is known to have been used: what failed has no counts at all, and costs nothing. */
export function isUsed(usage: Usage): boolean {
  return Object.keys(usage).length > 0;
}

/** The price of a resolution. One that is unknown or not listed costs what the dearest does: it must not be a way to pay less. */
function findResolution(
  prices: NonNullable<MediaPrices['videoSecond']>,
  resolution: string | undefined,
): { readonly name: string; readonly price: string } {
  const listed = resolution === undefined || !Object.hasOwn(prices, resolution) ? undefined : prices[resolution];
  if (resolution !== undefined && listed !== undefined) return { name: resolution, price: listed };
  const [name, price] = Object.entries(prices).reduce((dearest, other) => (isDearer(other[1], dearest[1]) ? other : dearest));
  return { name, price };
}

/** Whether one decimal is more than another. */
export function isDearer(one: string, other: string): boolean {
  return compare(parseDecimal(one), parseDecimal(other)) > 0;
}
