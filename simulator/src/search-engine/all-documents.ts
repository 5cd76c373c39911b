import { toDocument, type SearchDocument } from './document.ts';
import { computing } from './documents/computing.ts';
import { crafts } from './documents/crafts.ts';
import { languages } from './documents/languages.ts';
import { nature } from './documents/nature.ts';
import { society } from './documents/society.ts';
import { specialDocuments } from './special-pages.ts';

/** Every page that the search can find. */
export const allDocuments: readonly SearchDocument[] = [
  ...nature,
  ...crafts,
  ...society,
  ...computing,
  ...languages,
  ...specialDocuments,
].map(toDocument);
