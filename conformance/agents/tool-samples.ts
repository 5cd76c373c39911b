/**
 * Parameters as the programs write them: a draft of JSON Schema, bounds outside every dialect's subset, an exclusive
 * minimum.
 */
export const readFile = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    file_path: { description: 'The absolute path to the file to read', type: 'string' },
    offset: { description: 'The first line', type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 },
    limit: { description: 'The number of lines', type: 'integer', exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 },
  },
  required: ['file_path'],
  additionalProperties: false,
} as const;

export const findFile = {
  type: 'object',
  properties: {
    dir_path: { type: 'string' },
    ignore: { type: 'array', items: { type: 'string' } },
    options: { type: 'object', properties: { respect_git_ignore: { type: 'boolean' } } },
  },
} as const;

export const titleSchema = {
  type: 'object',
  properties: { title: { type: 'string' } },
  required: ['title'],
  additionalProperties: false,
} as const;

/** Gemini CLI writes the types of its own schema language into a field for JSON Schema. */
export const uppercaseSchema = {
  type: 'OBJECT',
  properties: {
    complexity_reasoning: { type: 'STRING', description: 'Brief explanation for the score.' },
    complexity_score: { type: 'INTEGER', description: 'Complexity score from 1-100.' },
  },
  required: ['complexity_reasoning', 'complexity_score'],
} as const;

export const patchGrammar = 'start: begin_patch hunk+ end_patch\nbegin_patch: "*** Begin Patch" LF\nend_patch: "*** End Patch" LF?\n';
