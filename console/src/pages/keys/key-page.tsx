import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { may } from '../../api/sign-in.ts';
import { versionedQuestion } from '../../api/query-client.ts';
import { Amount } from '../../components/amount.tsx';
import { History } from '../../components/history.tsx';
import { Standing } from '../../components/limits/standing.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PageTabs, useTab } from '../../components/page-tabs.tsx';
import { UsagePanel } from '../../components/usage-panel.tsx';
import { useMinute, usePathPart, useSession, useZone } from '../../components/use-page.ts';
import { showAgo, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Facts, Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { KeyActions } from './key-actions.tsx';
import { describeLimits, type Key, keyStates, unrecordedUse } from './key-words.ts';
import styles from '../../components/columns.module.css';
import { contentWords } from '../../components/content-dialog.tsx';

/** One key: what it may use, its calls, what can be done with it, and who changed it. */
export function KeyPage() {
  const id = usePathPart('id');
  const session = useSession();
  const {
    data: { body: key, version },
  } = useSuspenseQuery(versionedQuestion('keys.get', { params: { id } }));
  const tabs = [
    { name: 'limits', text: 'Limits & use' },
    ...(may(session, 'audit:read') ? [{ name: 'history', text: 'History' } as const] : []),
  ] as const;
  const tab = useTab(tabs);
  return (
    <>
      <PageHead title={`${key.user}/${key.name}`}>
        <KeyActions apiKey={key} version={version} />
      </PageHead>
      <PageTabs label="Parts of the key" tabs={tabs} open={tab} />
      {tab === 'limits' && (
        <>
          <div className={styles['columns']}>
            <Panel title="What is left, nearest to its end first">
              <Standing user={key.user} keyId={key.id} />
            </Panel>
            <Details apiKey={key} />
          </div>
          <UsagePanel filter={{ key_id: key.id }} by="model" />
        </>
      )}
      {tab === 'history' && <History subject={`key:${key.id}`} />}
    </>
  );
}

const disconnects = {
  abort: 'the upstream is stopped',
  drain: 'the reply is read to its end',
  deliver: 'only what was delivered is charged',
} as const;

function Details({ apiKey: key }: { readonly apiKey: Key }) {
  const zone = useZone();
  const nowMs = useMinute();
  const seesAll = useSession().users === null;
  const when = (at: string | null, never: string): string => (at === null ? never : `${showMinute(at, zone)}, ${showAgo(at, nowMs)}`);
  // The page counts in whole minutes, and what has happened is never in the future.
  const since = (at: string | null, never: string): string =>
    at === null ? never : `${showMinute(at, zone)}, ${showAgo(at, Math.max(nowMs, Date.parse(at)))}`;
  const tags = Object.entries(key.tags).map(([name, value]) => `${name}=${value}`);
  return (
    <Panel title="Key">
      <Facts
        rows={[
          ['State', <State key="state" {...keyStates[key.state]} />],
          ['Id', <code key="id">{key.id}</code>],
          ['Secret ends in', key.issuer === null ? <code key="end">…{key.ends_in}</code> : `tokens of ${key.issuer}`],
          [
            'User',
            <Link key="user" to={paths.user(key.user)}>
              {key.user}
            </Link>,
          ],
          [
            'Team',
            key.team !== null && seesAll ? (
              <Link key="team" to={paths.team(key.team)}>
                {key.team}
              </Link>
            ) : (
              (key.team ?? '—')
            ),
          ],
          ['Limits of the key', describeLimits(key.limits)],
          ['Spend today (UTC)', <Amount key="today" money={key.spent_today} />],
          ['Spend this month (UTC)', <Amount key="month" money={key.spent_this_month} />],
          ['Expires', when(key.limits.expires_at, 'never')],
          ['Made', since(key.created_at, '—')],
          ['Last used', since(key.last_used_at, unrecordedUse(key))],
          ...(key.previous_until === null ? [] : ([['Old secret works until', when(key.previous_until, '—')]] as const)),
          ['Tags', tags.length === 0 ? '—' : tags.join(', ')],
          ['Translation', key.strict_translation ? 'strict: what cannot be translated is refused' : 'as configured'],
          ['If a client leaves', key.disconnect === null ? 'as configured' : disconnects[key.disconnect]],
          ['Responses are kept', key.response_retention_days === null ? 'as configured' : `${key.response_retention_days} days`],
          ['Content is recorded', contentWords(key.content, 'as its team says')],
          [
            'Calls',
            <Link key="calls" to={paths.calls} search={{ key_id: key.id, r: '30d' }}>
              its calls
            </Link>,
          ],
          [
            'Refused',
            <Link key="refused" to={paths.calls} search={{ key_id: key.id, tab: 'refused', r: '7d' }}>
              requests refused before an upstream
            </Link>,
          ],
        ]}
      />
    </Panel>
  );
}
