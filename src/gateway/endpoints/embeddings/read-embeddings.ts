import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';

/** The facts of an embeddings request. */
export type EmbeddingsFacts = {
  readonly requestedModel: string;
  /** Characters of the input. Input in tokens is estimated at four characters a token. */
  readonly inputCharacters: number;
  readonly encoding: 'float' | 'base64';
};

const inputsMax = 2048;
const usualCharactersPerToken = 4;

/** Checks a request and reads its facts. @throws GatewayError that names the field */
export function readEmbeddings(body: JsonObject): EmbeddingsFacts {
  const model = body['model'];
  if (model === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'model'.", { param: 'model' });
  if (typeof model !== 'string' || model === '') throw invalid('model', 'expected a string');
  const format = body['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64') throw invalid('encoding_format', "expected 'float' or 'base64'");
  const dimensions = body['dimensions'] ?? 1;
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1)
    throw invalid('dimensions', 'expected a positive integer');
  if (typeof (body['user'] ?? '') !== 'string') throw invalid('user', 'expected a string');
  return { requestedModel: model, inputCharacters: countInput(body['input'] ?? undefined), encoding: format };
}

function countInput(input: JsonValue | undefined): number {
  if (input === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'input'.", { param: 'input' });
  const one = countOne(input);
  if (one !== undefined) return one;
  if (!Array.isArray(input) || input.length === 0 || input.length > inputsMax) throw invalidInput();
  return (input as readonly JsonValue[]).reduce<number>((sum, item) => {
    const characters = countOne(item);
    if (characters === undefined) throw invalidInput();
    return sum + characters;
  }, 0);
}

/** The characters of a text or of a list of tokens; undefined for other values. */
function countOne(input: JsonValue): number | undefined {
  if (typeof input === 'string') return input === '' ? undefined : input.length;
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const isTokens = input.every((token) => typeof token === 'number' && Number.isInteger(token) && token >= 0);
  return isTokens ? input.length * usualCharactersPerToken : undefined;
}

function invalid(param: string, expected: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid value for '${param}': ${expected}.`, { param });
}

function invalidInput(): GatewayError {
  return invalid('input', `expected a non-empty string, a list of tokens, or up to ${inputsMax} of either`);
}
