import Type from 'typebox';

import { toolModesSchema } from './tool-modes-schema.ts';
import { pagesSchema, urlContextSchema, webSearchSchema } from './web-tools-schema.ts';

const decimal = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', description }));
/** Running Python in a sandbox. */
const codeExecutionSchema = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether models may run Python. Where the host cannot seal a sandbox, requests that ask for it are refused in any case.',
      }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 500, maximum: 600_000, default: 30_000, description: 'Longest time of one run, in milliseconds.' }),
    ),
    memoryMb: Type.Optional(
      Type.Integer({ minimum: 64, maximum: 4096, default: 256, description: 'Most memory of the Python interpreter, in MiB.' }),
    ),
    outputBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 4_000_000,
        default: 64_000,
        description: 'Most bytes of output of one run. The rest is left out, and the model is told so.',
      }),
    ),
    poolSize: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 32,
        default: 1,
        description: 'How many interpreters wait ready for the next request, from the first use on. Each takes about 200 MB.',
      }),
    ),
    concurrencyMax: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        default: 4,
        description:
          'How many requests of one process may have an interpreter at the same time. Others wait ten seconds, then their model is told that none is free.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Running Python in a sandbox.' },
);

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
    codeExecution: Type.Optional(codeExecutionSchema),
    webSearch: Type.Optional(webSearchSchema),
    urlContext: Type.Optional(urlContextSchema),
    pages: Type.Optional(pagesSchema),
  },
  { additionalProperties: false, description: 'Built-in tools that the gateway runs itself.' },
);
