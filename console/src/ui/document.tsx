import styles from './document.module.css';

/** A value as JSON, in a frame that scrolls by keyboard too. */
export function Document({ value }: { readonly value: unknown }) {
  return (
    <pre className={styles['document']} tabIndex={0}>
      {JSON.stringify(value, undefined, 2)}
    </pre>
  );
}
