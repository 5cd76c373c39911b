import type { GatewayError } from '../../inference/gateway-error.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import { joinWords, type OpenaiWords, withArticle, wordOpenaiProblem } from '../word-openai-problem.ts';

const integerFields = new Set<string | number>(['n', 'max_tokens', 'max_completion_tokens', 'top_logprobs', 'seed']);
/** Fields whose arrays contain strings; the others contain objects. */
const stringArrayFields = new Set<string | number>(['stop', 'modalities']);

/** As at the vendor, one article precedes the whole list, and null is omitted if another type is right too. */
const wordTypes: OpenaiWords['wordTypes'] = (types, field) => {
  const arrays = stringArrayFields.has(field) ? 'array of strings' : 'array of objects';
  const nouns = types
    .filter((type, _, all) => type !== 'null' || all.length === 1)
    .map((type) => (type === 'number' ? 'decimal' : type === 'array' ? arrays : type));
  return nouns.length === 1 ? withArticle(nouns.join('')) : `one of ${withArticle(joinWords(nouns, 'or'))}`;
};

const words: OpenaiWords = {
  isIntegerField: (field) => integerFields.has(field),
  wordTypes,
  // The vendor names the field only in `param`. We also name it in the text, because most programs show nothing else.
  wordEnum: (name, actual, supported) => `Invalid value for '${name}': ${actual}. ${supported}`,
};

/** Words a problem of a request as the vendor does, with its machine code and the path of the field. */
export function wordRequestProblem(problem: SchemaProblem): GatewayError {
  return wordOpenaiProblem(problem, words);
}
