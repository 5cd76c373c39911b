import { State } from '../ui/state.tsx';

export type Books = {
  readonly addsUp: boolean;
  /** The end of the last verification; null before the first. */
  readonly verifiedAt: string | null;
};

/** Whether the books add up. Nobody knows before they were added up once. */
export function BooksState({ addsUp, verifiedAt }: Books) {
  if (!addsUp) return <State sign="✗" word="the books do not add up" tone="bad" />;
  if (verifiedAt === null) return <State sign="○" word="not added up yet" tone="muted" />;
  return <State sign="✓" word="the books add up" tone="good" />;
}
