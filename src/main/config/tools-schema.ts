import Type from 'typebox';

import { defaultFileLimits } from '../../tools/file-search/file-service.ts';
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

/** Built-in tools that the gateway runs itself: web search, file search, code execution, page reading, image generation. */
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
    runsMax: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 64,
        description: 'How many tools the model of one call may have run in all its rounds. Of those beyond it is told that they may not.',
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
    imageGeneration: Type.Optional(
      Type.Object(
        {
          model: Type.String({
            minLength: 1,
            description:
              'Image model, by the name that clients use, of the tool image_generation of Responses for chat models whose vendor has no such tool. Each image is a call of its own in the books of the user, beneath the call that it was for.',
          }),
        },
        { additionalProperties: false, description: 'Making images in replies of chat models.' },
      ),
    ),
    fileSearch: Type.Optional(
      Type.Object(
        {
          embeddings: Type.Optional(
            Type.Object(
              {
                model: Type.String({
                  minLength: 1,
                  description:
                    'Embeddings model, by the name that clients use, that finds passages by meaning. Each text and query is a call of its own in the books of the user. Without one, words alone are searched.',
                }),
              },
              { additionalProperties: false },
            ),
          ),
          rerank: Type.Optional(
            Type.Object(
              {
                model: Type.String({
                  minLength: 1,
                  description:
                    'Ranking model, by the name that clients use, that orders what a search has found by how well it fits. Each search has a ranking of its own in the books of the user, beneath the call that it was for. A request with the ranker none goes without.',
                }),
              },
              { additionalProperties: false },
            ),
          ),
        },
        { additionalProperties: false, description: 'Searching files that users have put into vector stores.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'Built-in tools that the gateway runs itself.' },
);

/** What users may keep at /v1/files. */
export const filesSchema = Type.Object(
  {
    fileBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 536_870_912,
        default: defaultFileLimits.fileBytesMax,
        description: 'Largest file that is taken in, in bytes. Indexing one holds it in memory as a whole.',
      }),
    ),
    userBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_099_511_627_776,
        default: defaultFileLimits.userBytesMax,
        description: 'What all files of one user may have together, in bytes.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Files that users upload. Their content is encrypted in the database; the searchable text of vector stores is not.',
  },
);
