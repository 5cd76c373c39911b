import styles from './meter.module.css';

/** A share as a bar: of a limit that is used, or of a whole. */
export function Meter({
  label,
  share,
  tone = 'plain',
}: {
  readonly label: string;
  readonly share: number;
  readonly tone?: 'plain' | 'warning' | 'bad';
}) {
  const percent = Math.min(100, Math.max(0, share * 100));
  return (
    <span
      className={styles['meter']}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      data-tone={tone}
    >
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}
