import { State } from '../ui/state.tsx';

export type Books = {
  readonly addsUp: boolean;
  /** The end of the last verification; null before the first. */
  readonly verifiedAt: string | null;
};

/** Whether the books add up, in a sign and a word. Nobody knows before they were added up once. */
export function wordBooks({ addsUp, verifiedAt }: Books) {
  if (!addsUp) return { sign: '✗', word: 'the books do not add up', tone: 'bad' } as const;
  if (verifiedAt === null) return { sign: '○', word: 'not added up yet', tone: 'muted' } as const;
  return { sign: '✓', word: 'the books add up', tone: 'good' } as const;
}

export function BooksState(books: Books) {
  return <State {...wordBooks(books)} />;
}
