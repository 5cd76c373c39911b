import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useId, useState, type KeyboardEvent } from 'react';

import { question } from '../api/query-client.ts';
import { paths, type Place, placeOfObject } from '../paths.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { allEntries, mayOpen } from './entries.ts';
import styles from './palette.module.css';
import { useSession } from './use-page.ts';

type Hit = { readonly key: string; readonly icon: IconName; readonly text: string; readonly kind: string; readonly place: Place };

const icons: Readonly<Record<string, IconName>> = { call: 'calls', key: 'keys', user: 'person', upstream: 'upstreams', model: 'models' };

/** Search and go: pages by name, objects by id or by a part of their names. */
export function Palette({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Search or go to">
      {open && <Finder onClose={onClose} />}
    </Dialog>
  );
}

/** The pages and the objects that a text names. */
function useHits(text: string): { readonly hits: readonly Hit[]; readonly isAsking: boolean } {
  const session = useSession();
  const wanted = useDeferredValue(text.trim());
  const found = useQuery({ ...question('search', { query: { q: wanted } }), enabled: wanted !== '', placeholderData: keepPreviousData });
  const pages = allEntries
    .filter((entry) => mayOpen(session, entry) && entry.text.toLowerCase().includes(wanted.toLowerCase()))
    .map(({ to, icon, text: name }): Hit => ({ key: to, icon, text: name, kind: 'page', place: { to } }));
  const objects = (wanted === '' ? [] : (found.data?.items ?? [])).map(({ kind, id, label }): Hit => ({
    key: `${kind} ${id}`,
    icon: icons[kind] ?? 'search',
    text: label === id ? label : `${label} · ${id}`,
    kind,
    place: placeOfObject(kind, id) ?? { to: paths.overview },
  }));
  return { hits: [...objects, ...pages], isAsking: found.isFetching };
}

function Finder({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const id = useId();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const { hits, isAsking } = useHits(text);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  const go = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    onClose();
    void navigate(hit.place);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((active + step + hits.length) % Math.max(1, hits.length));
    else if (event.key === 'Enter') go(hits[active]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        className={styles['input']}
        role="combobox"
        aria-label="Page, name or id"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={hits.length === 0 ? undefined : `${id}-${active}`}
        placeholder="Page, user, key, model, or any id of a call or a refused request"
        value={text}
        autoComplete="off"
        spellCheck={false}
        // The field gets the focus, so that typing works at once.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={id} role="listbox" aria-label="Found" className={styles['list']}>
        {hits.map((hit, index) => (
          <li
            key={hit.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            className={styles['hit']}
            onPointerMove={() => setActive(index)}
            onClick={() => go(hit)}
          >
            <Icon name={hit.icon} />
            <span>{hit.text}</span>
            <small>{hit.kind}</small>
          </li>
        ))}
      </ul>
      <p role="status" className={styles['none']}>
        {hits.length === 0 && !isAsking ? 'Nothing has this name or id, or you may not see it.' : ''}
      </p>
    </>
  );
}
