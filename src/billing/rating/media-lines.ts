import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import { parseDecimal } from './decimal.ts';
import type { MediaPrices } from './parse-price-book.ts';

const charactersPerPrice = 1_000_000;
const msPerSecond = 1000;
const secondsPerMinute = 60;

/** Charge lines for what is not counted in tokens. Unknown and zero counts give no line, and neither does what has no price. */
export function mediaLines(usage: Usage, parameters: PricingParameters | undefined, prices: MediaPrices): ChargeLine[] {
  const { inputCharacters = 0, inputAudioMs = 0, outputVideoMs = 0, inputImages = 0 } = usage;
  const { characters, audioMinute, videoSecond, inputImage } = prices;
  const lines: ChargeLine[] = [];
  const add = (meter: string, quantity: number, unitPrice: string | undefined, per: number): void => {
    if (quantity > 0 && unitPrice !== undefined) lines.push({ meter, quantity, unitPrice, per });
  };
  add('characters', inputCharacters, characters, charactersPerPrice);
  // Vendors bill each second that has begun.
  add('audio_second', Math.ceil(inputAudioMs / msPerSecond), audioMinute, secondsPerMinute);
  if (videoSecond !== undefined) {
    const { name, price } = findResolution(videoSecond, parameters?.['resolution']);
    add(`video_ms:${name}`, outputVideoMs, price, msPerSecond);
  }
  add('input_image', inputImages, inputImage, 1);
  return lines;
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

function isDearer(one: string, other: string): boolean {
  const [first, second] = [parseDecimal(one), parseDecimal(other)];
  return first.numerator * second.denominator > second.numerator * first.denominator;
}
