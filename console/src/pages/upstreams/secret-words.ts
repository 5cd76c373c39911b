import type { Reply } from '../../api/client.ts';
import type { StateTone } from '../../ui/state.tsx';

export type Secret = Reply<'upstreams.get'>['secrets'][number];

/** The state of a secret in words. */
export function secretState({ age_s: age, problem }: Pick<Secret, 'age_s' | 'problem'>): {
  readonly sign: string;
  readonly word: string;
  readonly tone: StateTone;
} {
  if (problem === null)
    return age === null ? { sign: '○', word: 'not used yet', tone: 'muted' } : { sign: '●', word: 'read', tone: 'good' };
  return age === null ? { sign: '▲', word: 'cannot be read', tone: 'bad' } : { sign: '◆', word: 'last value in use', tone: 'warning' };
}

/** How long ago a secret was read. @param show writes milliseconds */
export function secretAge({ age_s: age }: Pick<Secret, 'age_s'>, show: (ms: number) => string): string {
  return age === null ? 'never' : show(age * 1000);
}

/** The oldest of several, one that was never read first. Undefined without any. */
export function oldestSecret(secrets: readonly Secret[]): Secret | undefined {
  const ageOf = ({ age_s: age }: Secret): number => age ?? Number.POSITIVE_INFINITY;
  return secrets.filter(({ kind }) => kind !== 'login').toSorted((a, b) => ageOf(b) - ageOf(a))[0];
}
