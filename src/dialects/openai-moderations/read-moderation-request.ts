import { GatewayError } from '../../inference/gateway-error.ts';
import { filledText, itemsOf, membersOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { wordOpenaiProblem, joinWords, wordTypeName } from '../word-openai-problem.ts';
import { moderationSchema } from './request-schema.ts';

export type ModerationPart = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'image'; readonly url: string };

/** The content to judge. Each input has its own result, and its parts are judged together. */
export type ModerationRequest = { readonly requestedModel: string; readonly inputs: readonly (readonly ModerationPart[])[] };

/** The vendor's model for a request that names none. */
const defaultModel = 'omni-moderation-latest';

const checks = {
  compatible: compileCheckLater(moderationSchema('compatible')),
  documented: compileCheckLater(moderationSchema('documented')),
};

const words = {
  isIntegerField: () => false,
  wordTypes: (types: readonly string[]) =>
    types.length === 1 ? types.map(wordTypeName).join('') : `one of ${joinWords(types.map(wordTypeName), 'or')}`,
  wordEnum: (_name: string, actual: string, supported: string) => `Invalid value: ${actual}. ${supported}`,
};

/**
 * Checks and reads the body of `/v1/moderations`: a text, a list of texts, or a list of texts and images that are one
 * input.
 * @throws GatewayError (400) that names the field
 */
export function readModerationRequest(body: JsonObject, mode: ValidationMode): ModerationRequest {
  if (!checks[mode](body)) {
    const [problem] = describeProblems(moderationSchema(mode), body, 1);
    throw problem === undefined
      ? new GatewayError('invalid_value', 'The request body does not fit the interface.')
      : wordOpenaiProblem(problem, words);
  }
  return { requestedModel: filledText(body['model']) ?? defaultModel, inputs: readInputs(body['input']) };
}

function readInputs(input: JsonValue | undefined): ModerationRequest['inputs'] {
  if (typeof input === 'string') return [[{ kind: 'text', text: input }]];
  const items = itemsOf(input);
  const texts = items.filter((item) => typeof item === 'string');
  if (texts.length === items.length) return texts.map((text) => [{ kind: 'text', text }]);
  if (texts.length > 0)
    throw new GatewayError(
      'invalid_value',
      "Invalid 'input': a list must have either strings, which are judged one by one, or objects, which are judged together.",
      {
        param: 'input',
        details: { openai_code: 'invalid_type' },
      },
    );
  return [items.map(readPart)];
}

function readPart(item: JsonValue): ModerationPart {
  const part = membersOf(item);
  if (part['type'] === 'text') return { kind: 'text', text: textOf(part['text']) ?? '' };
  return { kind: 'image', url: textOf(membersOf(part['image_url'])['url']) ?? '' };
}
