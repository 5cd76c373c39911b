import styles from './state.module.css';

export type StateTone = 'good' | 'warning' | 'bad' | 'neutral' | 'muted';

/** A state as a sign and a word: never by colour alone. */
export function State({ sign, word, tone }: { readonly sign: string; readonly word: string; readonly tone: StateTone }) {
  return (
    <span className={styles['state']} data-tone={tone}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}
