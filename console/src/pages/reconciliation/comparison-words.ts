import type { StateTone } from '../../ui/state.tsx';
import type { Comparison, DayState } from './month-days.ts';

export const dayStates: Readonly<Record<DayState, { readonly sign: string; readonly word: string }>> = {
  agrees: { sign: '✓', word: 'agrees' },
  accepted: { sign: '☑', word: 'accepted' },
  differs: { sign: '✗', word: 'differs' },
  comparing: { sign: '…', word: 'comparing' },
  failed: { sign: '✗', word: 'failed' },
  missing: { sign: '○', word: 'missing' },
  future: { sign: '·', word: 'to come' },
};

type Shown = { readonly sign: string; readonly word: string; readonly tone: StateTone };

/** The state of a comparison as a sign and a word. */
export function stateOfComparison({ state, accepted }: Pick<Comparison, 'state' | 'accepted'>): Shown {
  if (state === 'differs' && accepted !== null) return { sign: '☑', word: 'differs, accepted', tone: 'good' };
  const tones = { agrees: 'good', differs: 'bad', comparing: 'neutral', failed: 'bad', cancelled: 'muted' } as const;
  return { sign: dayStates[state === 'cancelled' ? 'failed' : state].sign, word: state, tone: tones[state] };
}

export const vendors = ['openai', 'anthropic', 'google'] as const;
export type Vendor = (typeof vendors)[number];

/** The command that compares the same export. */
export function commandOf({ file, vendor, upstream, tolerance }: Pick<Comparison, 'file' | 'vendor' | 'upstream' | 'tolerance'>): string {
  const words = ['weir reconcile', `'${file.name.replaceAll("'", '')}'`, `--vendor ${vendor}`];
  if (upstream !== null) words.push(`--upstream ${upstream}`);
  if (tolerance !== '0') words.push(`--tolerance ${tolerance}`);
  return words.join(' ');
}
