import Type from 'typebox';

import { defaultFileLimits } from '../../tools/file-search/file-service.ts';

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
