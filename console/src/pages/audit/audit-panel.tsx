import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { showOffset, showTime } from '../../format/times.ts';
import { historyOf, paths, placeOfSubject } from '../../paths.ts';
import { Copy } from '../../ui/copy.tsx';
import { Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { SidePanel } from '../../ui/split.tsx';
import styles from './audit-page.module.css';
import { type Difference, differencesOf } from './differences.ts';

/** The object of a change, as a link to its page if it has one. */
export function Subject({ subject }: { readonly subject: string }) {
  const place = placeOfSubject(subject);
  return place === undefined ? subject : <Link {...place}>{subject}</Link>;
}

/** One change with all that is known of it. */
export function AuditPanel({ sequence, onClose }: { readonly sequence: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery({ ...question('audit.get', { params: { sequence } }), staleTime: Infinity });
  return (
    <SidePanel label="Change" title={`Change ${sequence}`} onClose={onClose}>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={8} />}
      {data !== undefined && <Details entry={data} />}
    </SidePanel>
  );
}

function Details({ entry }: { readonly entry: Reply<'audit.get'> }) {
  const zone = useZone();
  const { at, actor, via, action, subject, before, after, note, address, request_id: requestId, hash } = entry;
  const differences = differencesOf(before, after);
  return (
    <>
      <Facts
        rows={[
          ['Time', `${showTime(at, zone)} (${showOffset(at, zone)})`],
          ['Who', actor],
          ['Way', via],
          ['Action', <code key="action">{action}</code>],
          ['Subject', <Subject key="subject" subject={subject} />],
          ['Note', note ?? '—'],
          ['Address', address ?? '—'],
          ['Request', requestId === null ? '—' : <code key="request">{requestId}</code>],
          [
            'Hash',
            <span key="hash" className={styles['hash']}>
              <code>{hash}</code> <Copy text={hash} label="Copy the hash" />
            </span>,
          ],
        ]}
      />
      <Panel title="Before and after">
        {differences.length === 0 ? (
          <p className={styles['none']}>Nothing that is kept differs: it was an action without a state of its own.</p>
        ) : (
          <Diff differences={differences} />
        )}
      </Panel>
      <p className={styles['links']}>
        <Link {...historyOf(subject)}>All changes of this subject</Link>
        <Link to={paths.audit} search={{ actor }}>
          All changes by {actor}
        </Link>
      </p>
      <Equivalent
        command={`weir audit list --subject ${quote(subject)} --json`}
        curl={curlOf(location.origin, 'audit.list', { query: { subject } })}
      />
    </>
  );
}

/** Each value that was added, taken away or replaced. A sign says which, for those who see no colours. */
function Diff({ differences }: { readonly differences: readonly Difference[] }) {
  return (
    <dl className={styles['diff']}>
      {differences.map(({ path, before, after }) => (
        <div key={path}>
          {path !== '' && <dt>{path}</dt>}
          {before !== undefined && (
            <dd data-side="before">
              <span aria-hidden="true">−</span>
              <span className="visually-hidden">before: </span>
              {before}
            </dd>
          )}
          {after !== undefined && (
            <dd data-side="after">
              <span aria-hidden="true">+</span>
              <span className="visually-hidden">after: </span>
              {after}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
