import { GatewayError } from '../../inference/gateway-error.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import { joinWords, type OpenaiWords, wordOpenaiProblem, wordTypeName } from '../word-openai-problem.ts';

/** All other numbers are integers. */
const decimalFields = new Set<string | number>(['temperature', 'top_p', 'score_threshold']);

const words: OpenaiWords = {
  isIntegerField: (field) => !decimalFields.has(field),
  wordTypes: (types) => {
    const names = types.map(wordTypeName);
    return names.length === 1 ? names.join('') : `one of ${joinWords(names, 'or')}`;
  },
  // The vendor names the field only in `param`. We also name it in the text, because most programs show nothing else.
  wordEnum: (name, actual, supported) => `Invalid value: ${actual}. ${supported} Parameter: '${name}'.`,
  patternWords: {
    country: 'a two-letter ISO country code such as US',
    timezone: 'an IANA time zone such as America/Los_Angeles',
    image_url: 'a full URL (http or https) or a base64 data URL',
    name: "a string of letters, digits, underscores and dashes that matches the pattern '^[a-zA-Z0-9_-]+$'",
  },
};

/** The limit for keys of metadata, for which the vendor has a message of its own. */
function wordMetadataKey({ path, actual }: SchemaProblem): GatewayError {
  const text = `Invalid property name in 'metadata': '${String(path[1])}'. Expected a string with maximum length 64, but got a string with length ${String(actual)} instead.`;
  return new GatewayError('invalid_value', text, { param: 'metadata', details: { openai_code: 'string_above_max_length' } });
}

/** Words a problem of a request as the vendor does, with its machine code and the path of the field. */
export function wordRequestProblem(problem: SchemaProblem): GatewayError {
  const isMetadataKey = problem.path[0] === 'metadata' && problem.rule === 'max-length' && problem.expected === 64;
  return isMetadataKey ? wordMetadataKey(problem) : wordOpenaiProblem(problem, words);
}
