import { type Static, Type } from 'typebox';

import type { PriceBookSummary } from '../../../billing/price-books/price-book-store.ts';
import { instant, nullable, record } from '../../contract/values.ts';

export const bookSchema = record(
  {
    number: Type.Integer({ minimum: 1, description: 'The newest book is in force.' }),
    label: Type.String({ description: 'The version that its author chose.' }),
    scope: Type.Enum(['override', 'whole']),
    effective_from: Type.String({ description: 'First day (UTC) of its changes.' }),
    published_at: Type.String(),
    actor: Type.String(),
    note: nullable(Type.String()),
    digest: Type.String({ description: 'SHA-256 of the book.' }),
  },
  'A published price book.',
);

export const encodeBook = (book: PriceBookSummary): Static<typeof bookSchema> => ({
  number: book.number,
  label: book.label,
  scope: book.scope,
  effective_from: book.effectiveFrom,
  published_at: instant(book.publishedAtMs),
  actor: book.actor,
  note: book.note ?? null,
  digest: book.digest,
});
