import styles from './stacked-bars.module.css';

export type BarSeries = {
  /** Undefined for the sum of all others. */
  readonly name: string | undefined;
  readonly label: string;
  readonly values: readonly bigint[];
  /** A colour with a meaning, such as that of failures; otherwise the name decides. */
  readonly colour?: string;
};

/** The words of a value. `axis` gives those of an axis, which have one form. */
export type Show = ((value: bigint) => string) & { readonly axis?: (ticks: readonly bigint[]) => (tick: bigint) => string };

type ReadingProps = {
  readonly series: readonly BarSeries[];
  readonly show: Show;
  readonly before: readonly bigint[] | undefined;
  readonly colours: readonly string[];
  readonly at: number;
  readonly when: string;
  readonly sum: bigint;
  readonly side: 'left' | 'right';
};

/** The figures of one bar. */
export function Reading({ series, colours, at, show, before, when, sum, side }: ReadingProps) {
  return (
    <div className={styles['reading']} data-side={side} role="status">
      <p className={styles['when']}>{when}</p>
      <table>
        <tbody>
          {series.map(({ label, values }, index) =>
            (values[at] ?? 0n) === 0n ? null : (
              <tr key={label}>
                <th scope="row">
                  <span style={{ background: colours[index] }} aria-hidden="true" /> {label}
                </th>
                <td>{show(values[at] ?? 0n)}</td>
              </tr>
            ),
          )}
          <tr>
            <th scope="row">Sum</th>
            <td>{show(sum)}</td>
          </tr>
          {before?.[at] !== undefined && (
            <tr>
              <th scope="row">The period before</th>
              <td>{show(before[at])}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

type FiguresProps = {
  readonly title: string;
  readonly series: readonly BarSeries[];
  readonly starts: readonly { readonly full: string }[];
  readonly show: Show;
  readonly sums: readonly bigint[];
};

/** All figures of a chart as a table. */
export function Figures({ title, series, starts, show, sums }: FiguresProps) {
  return (
    <div className={styles['figures']} tabIndex={0} role="region" aria-label={title}>
      <table>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
            <th scope="col">Sum</th>
          </tr>
        </thead>
        <tbody>
          {starts.map(({ full }, index) => (
            <tr key={full}>
              <th scope="row">{full}</th>
              {series.map(({ label, values }) => (
                <td key={label}>{show(values[index] ?? 0n)}</td>
              ))}
              <td>{show(sums[index] ?? 0n)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
