import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { useMinute, useZone } from '../../components/use-page.ts';
import { showAgo, showMinute } from '../../format/times.ts';
import { placeOfSubject } from '../../paths.ts';
import { State } from '../../ui/state.tsx';
import styles from './attention-list.module.css';

const signs = {
  critical: { sign: '✗', tone: 'bad', word: 'Critical' },
  warning: { sign: '▲', tone: 'warning', word: 'Warning' },
  info: { sign: '○', tone: 'muted', word: 'Note' },
} as const;

/** The present problems, each with what ends it. */
export function AttentionList({ items }: { readonly items: Reply<'overview.get'>['attention'] }) {
  const nowMs = useMinute();
  const zone = useZone();
  if (items.length === 0) return <State sign="✓" word="Nothing. All is well." tone="good" />;
  return (
    <ul className={styles['list']}>
      {items.map(({ code, subject, period, severity, since, summary, action }) => {
        const place = placeOfSubject(subject);
        return (
          <li key={`${code} ${subject} ${period}`} className={styles['item']}>
            <State {...signs[severity]} />
            <p className={styles['summary']}>{place === undefined ? summary : <Link {...place}>{summary}</Link>}</p>
            <p className={styles['action']}>{action}</p>
            <p className={styles['since']} title={showMinute(since, zone)}>
              since {showAgo(since, nowMs)}
            </p>
          </li>
        );
      })}
    </ul>
  );
}
