import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { curlOf, quote } from '../../api/equivalents.ts';
import { isLost, versionedQuestion } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useChange } from '../../components/use-change.ts';
import { useAddress, useMinute, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { say } from '../../ui/toasts.tsx';
import type { PublishedBook } from './books-table.tsx';
import type { DraftProps } from './draft-props.ts';
import { dayToday } from './price-list.tsx';
import { asBook } from './price-words.ts';
import styles from './prices-page.module.css';

const newestBook = versionedQuestion('price_books.list', { query: { limit: 1 } });

/** Publishes the draft as the next book, if the newest is still the one that the page has shown. */
export function DraftPublication({ draft }: DraftProps) {
  const { data, error, refetch } = useQuery({ ...newestBook, staleTime: 0 });
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={6} />;
  return <Form draft={draft} newest={data.body.items[0]} version={data.version} onAgain={() => void refetch()} />;
}

type FormProps = Pick<DraftProps, 'draft' | 'version'> & { readonly newest: PublishedBook | undefined; readonly onAgain: () => void };

function Form({ draft, newest, version, onAgain }: FormProps) {
  const navigate = useNavigate();
  const [search] = useAddress();
  const today = dayToday(useMinute());
  // The book that was the newest when the form was opened: another one is somebody else's.
  const [seen, setSeen] = useState({ version, number: newest?.number ?? 0 });
  const [from, setFrom] = useState(one(search, 'from') ?? today);
  const [note, setNote] = useState('');
  const [whole, setWhole] = useState(one(search, 'whole') === '1');
  const change = useChange('price_drafts.publish', ['price_books', 'prices']);
  const number = newest?.number ?? 0;
  const isStale = change.problem?.code === 'version_mismatch' || number !== seen.number;
  const input = {
    params: { id: draft.id },
    body: { from, ...(whole && { whole }), ...(note !== '' && { note }) },
    version: seen.version,
  };
  const errors = change.problem?.fieldErrors() ?? {};
  const publish = async (): Promise<void> => {
    const done = await change.run(input);
    if (done === undefined) return onAgain();
    say(`Book store-${done.body.number} is published`, `All gateways charge it within seconds, from ${done.body.effective_from} on.`);
    void navigate({ to: paths.priceBook(String(done.body.number)) });
  };
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault();
        void publish();
      }}
    >
      <WhatHappens draft={draft} newest={newest} />
      {isStale && (
        <Stale
          newest={newest}
          onSeen={() => {
            change.clear();
            setSeen({ version, number });
          }}
        />
      )}
      <TextField label="First day (UTC)" type="date" value={from} error={errors['from']} required onChange={setFrom} />
      <TextField label="Note" value={note} placeholder="Vendor cut, contract 118" error={errors['note']} onChange={setNote} />
      <CheckField
        label="The draft is the whole list"
        help="From that day on no other model has a price, not even those of this release."
        checked={whole}
        onChange={setWhole}
      />
      {change.problem !== undefined && change.problem.code !== 'version_mismatch' && <Failure error={change.problem} />}
      <div>
        <Button kind="main" type="submit" busy={change.busy} disabledBecause={isStale ? 'Look at the newer book first.' : undefined}>
          Publish book {seen.number + 1}
        </Button>
      </div>
      <Equivalent
        command={`weir prices publish prices.json --from ${from}${whole ? ' --whole' : ''}${note === '' ? '' : ` --note ${quote(note)}`}`}
        curl={curlOf(location.origin, 'price_drafts.publish', input)}
      />
    </form>
  );
}

function Stale({ newest, onSeen }: Pick<FormProps, 'newest'> & { readonly onSeen: () => void }) {
  if (newest === undefined) return null;
  return (
    <Notice tone="warning" action={<Button onClick={onSeen}>I have seen it</Button>}>
      Book store-{newest.number} was published meanwhile by {newest.actor}. Step 2 shows the difference to it.
    </Notice>
  );
}

function WhatHappens({ draft, newest }: Pick<FormProps, 'draft' | 'newest'>) {
  const entries = asBook(draft.book).entries.length;
  return (
    <>
      <p>
        {entries} {entries === 1 ? 'price' : 'prices'} of this draft will be charged by all gateways, for calls that are accepted from its
        first day on. Calls before that day keep their cost. A published book cannot be taken back: a newer one replaces it.
      </p>
      <Newest newest={newest} />
    </>
  );
}

function Newest({ newest }: { readonly newest: PublishedBook | undefined }) {
  const zone = useZone();
  if (newest === undefined) return <p className={styles['muted']}>No book was published yet: the prices of this release are in force.</p>;
  const { number, actor, published_at: at, note } = newest;
  return (
    <p className={styles['muted']}>
      The newest book is store-{number}, by {actor}, {showMinute(at, zone)}
      {note !== null && `: ${note}`}
    </p>
  );
}
