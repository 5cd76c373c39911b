import { TextField } from '../ui/field.tsx';
import styles from './name-filter.module.css';
import { one } from './search-params.ts';
import { useAddress } from './use-page.ts';

/** A part of a name, in the address as `q`. */
export function NameFilter({ label }: { readonly label: string }) {
  const [search, change] = useAddress();
  return (
    <search className={styles['filter']}>
      <TextField
        label={label}
        type="search"
        placeholder="any"
        value={one(search, 'q') ?? ''}
        onChange={(q) => change({ q: q === '' ? undefined : q }, true)}
      />
    </search>
  );
}
