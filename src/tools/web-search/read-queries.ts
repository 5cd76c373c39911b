import type { FunctionTool } from '../../inference/inference-request.ts';
import { textOf, textsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

export const searchesPerCallMax = 4;
const queryCharactersMax = 400;

/** The function that replaces the tool for the model. */
export const webSearchFunction: FunctionTool = {
  kind: 'function',
  name: 'web_search',
  description:
    'Searches the web and returns numbered sources with the text of the best pages. Use it for what you do not know for certain or what may have changed. ' +
    'Several different queries at once find more than one. Write the number of a source, such as 【1】, right after each statement that is based on it.',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'The query.' },
      queries: {
        type: 'array',
        items: { type: 'string' },
        maxItems: searchesPerCallMax - 1,
        description: 'More queries, which are searched at the same time.',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
};

/** Reads the distinct queries from arguments that a model wrote. */
export function readQueries(args: JsonObject): readonly string[] {
  const written = [textOf(args['query']) ?? '', ...textsOf(args['queries']), ...textsOf(args['query'])];
  const queries = written.map((query) => query.replace(/\s+/g, ' ').trim().slice(0, queryCharactersMax)).filter((query) => query !== '');
  return [...new Set(queries)].slice(0, searchesPerCallMax);
}
