import type { GatewayError } from '../../inference/gateway-error.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import { joinWords, type OpenaiWords, withArticle, wordOpenaiProblem } from '../word-openai-problem.ts';

const integerFields = new Set<string | number>(['n', 'max_tokens', 'max_completion_tokens', 'top_logprobs', 'seed']);
/** Fields whose arrays hold strings; the others hold objects. */
const stringArrayFields = new Set<string | number>(['stop', 'modalities']);

/** One article before the whole list, and no word of null where something else is right too: so the vendor says it here. */
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
  // The vendor leaves the field's name to `param`; most programs show the text only, so it stands here too.
  wordEnum: (name, actual, supported) => `Invalid value for '${name}': ${actual}. ${supported}`,
};

/** Says a problem of a request in the vendor's words, with its machine code and the path of the field. */
export function wordRequestProblem(problem: SchemaProblem): GatewayError {
  return wordOpenaiProblem(problem, words);
}
