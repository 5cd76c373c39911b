import { useId, type ReactNode } from 'react';

import styles from './panel.module.css';

/** A part of a page with a heading. */
export function Panel({
  title,
  tools,
  children,
  flush = false,
}: {
  readonly title: string;
  readonly tools?: ReactNode;
  readonly children: ReactNode;
  readonly flush?: boolean;
}) {
  const id = useId();
  return (
    <section className={styles['panel']} aria-labelledby={id}>
      <header className={styles['head']}>
        <h2 id={id}>{title}</h2>
        {tools}
      </header>
      <div className={styles['body']} data-flush={flush}>
        {children}
      </div>
    </section>
  );
}

/** Names and values. */
export function Facts({ rows }: { readonly rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles['facts']}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
