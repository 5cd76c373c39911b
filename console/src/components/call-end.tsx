import type { Reply } from '../api/client.ts';
import { State } from '../ui/state.tsx';

export type CallItem = Reply<'calls.list'>['items'][number];

const ends = {
  finished: { sign: '●', word: 'finished', tone: 'good' },
  'client-left': { sign: '⇠', word: 'client left', tone: 'muted' },
  cut: { sign: '✂', word: 'cut', tone: 'warning' },
  failed: { sign: '✗', word: 'failed', tone: 'bad' },
  lost: { sign: '✗', word: 'lost', tone: 'bad' },
} as const;

export function CallEnd({ end }: { readonly end: CallItem['end'] }) {
  return <State {...ends[end]} />;
}

/** The end of a call in a receipt, which is a text. */
export function isCallEnd(end: string): end is CallItem['end'] {
  return Object.hasOwn(ends, end);
}
