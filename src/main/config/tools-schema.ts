import Type from 'typebox';

import { pagesSchema, urlContextSchema, webSearchSchema } from './web-tools-schema.ts';

/** Built-in tools that the gateway runs itself: web search, file search, code execution, page reading. */
export const toolsSchema = Type.Object(
  {
    roundsMax: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 10,
        description:
          'How often the model of one call may be asked again after tools that the gateway ran. The last time it is offered no tools.',
      }),
    ),
    webSearch: Type.Optional(webSearchSchema),
    urlContext: Type.Optional(urlContextSchema),
    pages: Type.Optional(pagesSchema),
  },
  { additionalProperties: false, description: 'Built-in tools that the gateway runs itself.' },
);
