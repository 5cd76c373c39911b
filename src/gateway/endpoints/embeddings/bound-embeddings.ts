import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { measureInput } from '../../../inference/measure-input.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Models put marks before and behind each text. */
const markTokens = 4;

/**
 * What embedding some texts may use: the one reckoning of holds and of quotes. A token is at least a byte of text; a list of tokens is reckoned with more than it has.
 * @param inputCharacters characters of text in it
 */
export function boundEmbeddings({ input }: JsonObject, inputCharacters: number): UsageBounds {
  const texts = Array.isArray(input) ? input.length : 1;
  return {
    expected: { inputTokens: estimateTokens(inputCharacters) },
    most: { inputTokens: measureInput(input).textBytes + texts * markTokens },
  };
}
