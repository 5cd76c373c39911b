import styles from './value-change.module.css';
import { findDifferences } from './value-differences.ts';

/** What a change did: each member with its value before and after. */
export function ValueChange({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const differences = findDifferences(before, after);
  if (differences.length === 0) return null;
  return (
    <dl className={styles['changes']}>
      {differences.map(({ path, before: one, after: other }) => (
        <div key={path}>
          <dt>{path}</dt>
          <dd>
            {one !== undefined && <del>{one}</del>} {other === undefined ? <span>taken away</span> : <ins>{other}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
