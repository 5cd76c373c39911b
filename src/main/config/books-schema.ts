import Type, { type Static } from 'typebox';

import { s3Schema } from './media-storage-schema.ts';

/** The `books` section. */
export const booksSchema = Type.Object(
  {
    retention: Type.Optional(
      Type.Object(
        {
          months: Type.Integer({
            minimum: 1,
            maximum: 1200,
            description: 'Whole months (UTC) before the present one whose calls stay in the database.',
          }),
          folder: Type.Optional(
            Type.String({ minLength: 1, maxLength: 4096, description: 'Folder of the files. Default: archive in the data directory.' }),
          ),
          s3: Type.Optional(s3Schema),
        },
        {
          additionalProperties: false,
          description:
            'Moves the rows of older calls from the database to Parquet files, after each file was read back and compared. The console does so each day, if its role may; `weir archive run` does so at once. Absent: all calls stay in the database.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'The ledger. Changes take effect at the next start.' },
);

export type BooksConfig = Static<typeof booksSchema>;
