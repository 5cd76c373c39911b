import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';

import { useMinute, useSession, useZone } from '../../components/use-page.ts';
import { showAgo, showMinute } from '../../format/times.ts';
import { placeOfSubject } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { State } from '../../ui/state.tsx';
import { type AttentionItem, type OfferedChange, offersOf } from './attention-offers.ts';
import styles from './attention-list.module.css';

// Dialogs are not in the first load.
const AttentionDialog = lazy(() => import('./attention-dialogs.tsx').then(({ AttentionDialog: component }) => ({ default: component })));

const signs = {
  critical: { sign: '✗', tone: 'bad', word: 'Critical' },
  warning: { sign: '▲', tone: 'warning', word: 'Warning' },
  info: { sign: '○', tone: 'muted', word: 'Note' },
} as const;

/** The present problems, each with what ends it and what can be done here. */
export function AttentionList({ items }: { readonly items: readonly AttentionItem[] }) {
  const [asked, setAsked] = useState<OfferedChange>();
  if (items.length === 0) return <State sign="✓" word="Nothing. All is well." tone="good" />;
  return (
    <>
      <ul className={styles['list']}>
        {items.map((item) => (
          <Item key={`${item.code} ${item.subject} ${item.period}`} item={item} onAsk={setAsked} />
        ))}
      </ul>
      {asked !== undefined && (
        <Suspense>
          <AttentionDialog change={asked} onClose={() => setAsked(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function Item({ item, onAsk }: { readonly item: AttentionItem; readonly onAsk: (change: OfferedChange) => void }) {
  const nowMs = useMinute();
  const zone = useZone();
  const { permissions } = useSession();
  const { subject, severity, since, summary, action } = item;
  const place = placeOfSubject(subject);
  const offers = offersOf(item, permissions);
  return (
    <li className={styles['item']}>
      <State {...signs[severity]} />
      <p className={styles['summary']}>{place === undefined ? summary : <Link {...place}>{summary}</Link>}</p>
      <p className={styles['action']}>{action}</p>
      {offers.length > 0 && (
        <p className={styles['offers']} role="group" aria-label={`What can be done: ${summary}`}>
          {offers.map((offer) =>
            'change' in offer ? (
              <Button key={offer.text} onClick={() => onAsk(offer.change)}>
                {offer.text}
              </Button>
            ) : (
              <Link key={offer.text} {...offer.place}>
                {offer.text}
              </Link>
            ),
          )}
        </p>
      )}
      <p className={styles['since']} title={showMinute(since, zone)}>
        since {showAgo(since, Math.max(nowMs, Date.parse(since)))}
      </p>
    </li>
  );
}
