/**
 * Request options that control the simulated vendor: `steer({ stop: 'refusal' })` is the header `x-simulator-stop:
 * refusal`.
 */
export function steer(steering: Readonly<Record<string, string | number>>): { headers: Record<string, string> } {
  return {
    headers: Object.fromEntries(Object.entries(steering).map(([name, value]) => [`x-simulator-${name}`, String(value)])),
  };
}

/** Options for a reply of exactly this text. */
export function saying(text: string, more: Readonly<Record<string, string | number>> = {}): { headers: Record<string, string> } {
  return steer({ text: encodeURIComponent(text), ...more });
}

/** A reply that is long and slow enough to be cut or left in its middle: 50 frames per second for 20 seconds. */
export const longReply = { 'output-tokens': 1000, pace: 'tokensPerSecond=50;tokensPerFrame=1' } as const;

/** A PNG of one red pixel. */
export const pixelPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

/** Faults that break a whole reply in its middle. */
export const brokenReplies: readonly string[] = [
  'reset-mid-stream',
  'truncate',
  'truncate;how=fin',
  'truncate;how=eof',
  'truncate;how=long-length',
  'stall-mid-stream',
  'malformed-event',
  'conflicting-lengths',
  'conflicting-lengths;kind=two-lengths',
];
