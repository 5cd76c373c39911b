import type { Reply } from '../../api/client.ts';
import { type Place, paths, placeOf } from '../../paths.ts';
import type { StateTone } from '../../ui/state.tsx';

export type Work = Reply<'operations.get'>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

const textIn = (input: unknown, member: string): string | undefined => {
  const value = isObject(input) ? input[member] : undefined;
  return typeof value === 'string' ? value : undefined;
};

type Kind = {
  readonly text: string;
  /** What the work is about, by a member of its input. */
  readonly about?: string;
  /** Where its result is shown. */
  readonly place?: (about: string, id: string) => Place;
};

/** The kinds of long work (src/admin/resources). Others are shown by their names. */
const kinds: Readonly<Record<string, Kind>> = {
  'upstreams.check': {
    text: 'Check of an upstream',
    about: 'upstream',
    place: (name, id) => ({ to: paths.upstream(name), search: { check: id } }),
  },
  'models.test': { text: 'Test of a model', about: 'model', place: (name, id) => ({ to: paths.model(name), search: { test: id } }) },
  'models.explain': { text: 'Explanation of a route', about: 'model', place: (name) => placeOf.model(name) },
  'prices.stage': {
    text: 'Calls priced by a draft',
    about: 'draft_id',
    place: (draft, id) => ({ to: paths.priceDraft(draft), search: { step: '3', op: id } }),
  },
  'reconciliations.run': {
    text: "Comparison with a vendor's export",
    about: 'reconciliation_id',
    place: (id) => placeOf.reconciliation(id),
  },
  'disputes.settle': { text: 'Decision about a disputed call', about: 'row_id', place: (id) => placeOf.call(id.split(':')[0] ?? id) },
  'responses.delete_at_vendor': { text: 'Deletion of a response at its vendor', about: 'response_id' },
};

export const kindNames: readonly string[] = Object.keys(kinds);

/** The words for a kind of work. */
export const textOfKind = (kind: string): string => kinds[kind]?.text ?? kind;

/** What work is about: the name or id of an object; undefined if its kind is not known here. */
export function aboutOf({ kind, input }: Pick<Work, 'kind' | 'input'>): string | undefined {
  const member = kinds[kind]?.about;
  return member === undefined ? undefined : textIn(input, member);
}

/** Where the progress and the result of work are shown; undefined if it has no page of its own. */
export function placeOfWork(work: Pick<Work, 'id' | 'kind' | 'input'>): Place | undefined {
  const about = aboutOf(work);
  return about === undefined ? undefined : kinds[work.kind]?.place?.(about, work.id);
}

export const workStates: Readonly<Record<Work['state'], { readonly sign: string; readonly word: string; readonly tone: StateTone }>> = {
  waiting: { sign: '○', word: 'waiting', tone: 'neutral' },
  running: { sign: '◌', word: 'running', tone: 'neutral' },
  done: { sign: '✓', word: 'done', tone: 'good' },
  failed: { sign: '✗', word: 'failed', tone: 'bad' },
  cancelled: { sign: '⊘', word: 'cancelled', tone: 'muted' },
};
