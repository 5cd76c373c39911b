import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { measureInput } from '../../../inference/measure-input.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Models add marker tokens around each text. */
const markTokens = 4;

/**
 * The usage bounds of an embedding, for holds and quotes alike. A token is at least one byte of text. The bound of a
 * list of tokens is above its length.
 */
export function boundEmbeddings({ input }: JsonObject, inputCharacters: number): UsageBounds {
  const texts = Array.isArray(input) ? input.length : 1;
  return {
    expected: { inputTokens: estimateTokens(inputCharacters) },
    most: { inputTokens: measureInput(input).textBytes + texts * markTokens },
  };
}
