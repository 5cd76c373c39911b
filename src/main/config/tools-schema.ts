import Type from 'typebox';

import { defaultFileLimits } from '../../tools/file-search/file-service.ts';
import { toolModesSchema } from './tool-modes-schema.ts';
import { pagesSchema, urlContextSchema, webSearchSchema } from './web-tools-schema.ts';

const decimal = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', description }));

const codeExecutionSchema = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether models may run Python. If the host cannot isolate a sandbox, requests with code execution are always refused.',
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
        description: 'Most bytes of output of one run. The rest is omitted, and the model receives a note about it.',
      }),
    ),
    poolSize: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 32,
        default: 1,
        description: 'Idle interpreters that are ready for the next request. They start after the first use. Each takes about 200 MB.',
      }),
    ),
    concurrencyMax: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        default: 4,
        description:
          'Most requests of one process that have an interpreter at the same time. Others wait for ten seconds. Then their model receives an error.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Execution of Python in a sandbox.' },
);

/** Built-in tools of the gateway: web search, file search, code execution, page reading, image generation. */
export const toolsSchema = Type.Object(
  {
    roundsMax: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 10,
        description: 'Most further requests to the model of one call after tools that the gateway ran. The last request offers no tools.',
      }),
    ),
    runsMax: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 64,
        description: 'Most runs of tools in all rounds of one call. For further runs, the model receives an error.',
      }),
    ),
    runMsMax: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 3_600_000,
        default: 120_000,
        description: 'Longest time of one run of a tool, in milliseconds.',
      }),
    ),
    costMaxUsd: decimal(
      'Cost of one call, in USD, after which its model receives no further request. The reply then ends as if it had reached a limit. Default: no limit.',
    ),
    modes: toolModesSchema('all models without a setting of their own'),
    prices: Type.Optional(
      Type.Object(
        {
          webSearch: decimal('USD per web search'),
          fileSearch: decimal('USD per file search'),
          codeExecution: decimal('USD per run of code'),
          pageRead: decimal('USD per page that was read'),
        },
        { additionalProperties: false, description: 'Prices of the tools that the gateway runs. Default: 0.' },
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
              'Image model, by the name that clients use. It runs the tool image_generation of Responses for chat models whose vendor has no such tool. Each image is booked as a call of its own, below the call that caused it.',
          }),
        },
        { additionalProperties: false, description: 'Images in replies of chat models.' },
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
                    'Embeddings model, by the name that clients use, that finds passages by meaning. Each text and query is booked as a call of its own. Without a model, only words are searched.',
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
                    'Ranking model, by the name that clients use, that orders the results of a search by relevance. Each ranking is booked as a call of its own, below the call that caused it. With the ranker none, a request has no ranking.',
                }),
              },
              { additionalProperties: false },
            ),
          ),
        },
        { additionalProperties: false, description: 'Search in files that users have added to vector stores.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'Built-in tools that the gateway runs itself.' },
);

/** Limits of the files at /v1/files. */
export const filesSchema = Type.Object(
  {
    fileBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 536_870_912,
        default: defaultFileLimits.fileBytesMax,
        description: 'Largest file, in bytes. A whole file is in memory while it is indexed.',
      }),
    ),
    userBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_099_511_627_776,
        default: defaultFileLimits.userBytesMax,
        description: 'Most bytes of all files of one user.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Files that users upload. Their content is encrypted in the database; the searchable text of vector stores is not.',
  },
);
