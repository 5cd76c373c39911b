import Type from 'typebox';

import { toolModesSchema } from './tool-modes-schema.ts';

const decimal = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', description }));

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
    runMsMax: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 3_600_000,
        default: 120_000,
        description: 'How long one run of a tool may take, in milliseconds.',
      }),
    ),
    costMaxUsd: decimal(
      'What one call may cost, in USD, before its model is asked no more: the reply then ends as one that reached a limit. Absent: no bound.',
    ),
    modes: toolModesSchema('all models that say nothing else'),
    prices: Type.Optional(
      Type.Object(
        {
          webSearch: decimal('USD per web search'),
          fileSearch: decimal('USD per file search'),
          codeExecution: decimal('USD per run of code'),
          pageRead: decimal('USD per page that was read'),
        },
        { additionalProperties: false, description: 'What the tools cost that the gateway runs. Absent prices are 0.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'Built-in tools that the gateway runs itself.' },
);
