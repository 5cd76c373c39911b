import styles from './sparkline.module.css';

const height = 24;

type Props = {
  /** What a reader needs to know of it, and what a pointer shows: `0 to 812 in an hour`. */
  readonly label: string;
  /** Oldest first. Null where there is nothing to measure, which leaves a gap. */
  readonly values: readonly (number | null)[];
};

/** A row of small bars beside a figure: how it came to be. They begin at zero, so that half is half as high. */
export function Sparkline({ label, values }: Props) {
  const most = Math.max(...values.map((value) => value ?? 0));
  if (!(most > 0)) return null;
  const bars = values.flatMap((value, index) => {
    if (value === null) return [];
    // What is not nothing is seen.
    const bar = value === 0 ? 0.5 : Math.max(1.5, (height * value) / most);
    return `M${index + 0.15} ${height}v${-bar}h0.7v${bar}z`;
  });
  return (
    <svg
      className={styles['sparkline']}
      viewBox={`0 0 ${values.length} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path d={bars.join('')} />
    </svg>
  );
}
