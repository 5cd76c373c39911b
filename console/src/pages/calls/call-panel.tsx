import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { Receipt } from '../../../../src/billing/receipts/receipt.ts';
import { apiPath } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { toProblem } from '../../api/problem.ts';
import { isLost, question } from '../../api/query-client.ts';
import { may, mayPlay } from '../../api/sign-in.ts';
import { CallEnd, isCallEnd } from '../../components/call-end.tsx';
import { Failure } from '../../components/failure.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useSession, useZone } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { showTime } from '../../format/times.ts';
import { paths, type Place } from '../../paths.ts';
import { placeInPlayground } from '../../playground/place-in-playground.ts';
import { ReceiptView, Timeline } from '../../receipts/receipt-view.tsx';
import { CodeLine, Copy } from '../../ui/copy.tsx';
import { Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { SidePanel } from '../../ui/split.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { CallActions } from './call-actions.tsx';
import { CallWires } from './call-wires.tsx';
import styles from './calls-page.module.css';
import { RefusalDetails } from './refusal-details.tsx';

/** A call beside the table. `j` and `k` walk on with it open. */
export function CallPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const title = (
    <p className={styles['id']}>
      {id} <Copy text={id} label="Copy the id" />
    </p>
  );
  return (
    <SidePanel label="Call" title={title} onClose={onClose}>
      <CallDetails id={id} />
      <p className={styles['links']}>
        <Link to={paths.call(id)}>Open as a page</Link>
        <a href={`${apiPath}/calls/${encodeURIComponent(id)}/receipt`} download={`receipt-${id}.json`}>
          Receipt as JSON
        </a>
      </p>
    </SidePanel>
  );
}

/** All that the books know about a call. */
export function CallDetails({ id }: { readonly id: string }) {
  const session = useSession();
  const { data, error, refetch } = useQuery({ ...question('calls.get', { params: { id } }), staleTime: 60_000 });
  if (isLost(error, data))
    return toProblem(error).body.status === 404 ? (
      <RefusalDetails id={id}>
        <Failure error={error} onRetry={() => void refetch()} />
      </RefusalDetails>
    ) : (
      <Failure error={error} onRetry={() => void refetch()} />
    );

  if (data === undefined) return <Skeleton rows={10} />;
  const receipt = data.receipt as unknown as Receipt;
  const [first] = receipt.rows;
  const call = { dialect: receipt.dialect, model: receipt.requested_model, stream: receipt.stream, user: receipt.user };
  const again = mayPlay(session) ? placeInPlayground(call) : undefined;
  return (
    <>
      <Summary receipt={receipt} />
      {first !== undefined && <Timeline row={first} />}
      <ReceiptView receipt={receipt} />
      <CallActions receipt={receipt} transactions={data.transactions} />
      <Notes receipt={receipt} />
      <Usage receipt={receipt} />
      {may(session, 'content:read') && <CallWires id={receipt.request_id} />}
      <Panel title="The same elsewhere">
        {again !== undefined && <PlaygroundLink place={again} />}
        <CodeLine text={`weir receipt ${receipt.request_id}`} label="Command" />
        <CodeLine text={curlOf(location.origin, 'calls.get', { params: { id: receipt.request_id } })} label="curl" />
      </Panel>
    </>
  );
}

/** Leads to the playground with the shape of the call; `p` does too. */
function PlaygroundLink({ place }: { readonly place: Place }) {
  const navigate = useNavigate();
  useKeys({ p: () => void navigate(place) });
  return (
    <p className={styles['links']}>
      <Link {...place} aria-keyshortcuts="p">
        Open in the playground
      </Link>
    </p>
  );
}

function Summary({ receipt }: { readonly receipt: Receipt }) {
  const zone = useZone();
  const { user, key, dialect, requested_model: model, stream, accepted_at: at, end, rows, team, tags } = receipt;
  const [first] = rows;
  const way =
    first?.upstream_dialect == null || first.upstream_dialect === dialect ? dialect : `${dialect} → ${first.upstream_dialect} (translated)`;
  const facts: (readonly [string, ReactNode])[] = [
    ['Accepted', showTime(at, zone)],
    [
      'Key',
      <Link key="key" to={paths.key(key.id)}>
        <KeyName user={user} name={key.name} />
      </Link>,
    ],
    ['Interface', `${way}${stream ? ', stream' : ''}`],
    ['Model', first?.served_model == null || first.served_model === model ? model : `${model} → ${first.served_model}`],
    ['End', isCallEnd(end) ? <CallEnd key="end" end={end} /> : end],
    ['Upstream status', first?.upstream_status == null ? '—' : String(first.upstream_status)],
    ['Id at the vendor', first?.upstream_request_id ?? '—'],
    ['Content', 'not kept with the call'],
  ];
  if (team != null) facts.push(['Team', team.name]);
  if (tags !== undefined) facts.push(['Tags', describeTags(tags)]);
  if (first?.error_code != null) facts.push(['Error', first.error_code]);
  return <Facts rows={facts} />;
}

const describeTags = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

function Notes({ receipt }: { readonly receipt: Receipt }) {
  const notes = receipt.rows.flatMap(({ notes: { request, reply } }) => [
    ...request.map((note) => ({ ...note, side: 'request' })),
    ...reply.map((note) => ({ ...note, side: 'reply' })),
  ]);
  if (notes.length === 0) return null;
  return (
    <Panel title="What the translation changed">
      <ul className={styles['notes']}>
        {notes.map((note, index) => (
          <li key={index}>
            <b>{note.kind}</b> in the {note.side}: <code>{note.field}</code>
            {'reason' in note && note.reason !== undefined && <span className={styles['names']}> {String(note.reason)}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Usage as it was counted, beside the vendor's own words. */
function Usage({ receipt }: { readonly receipt: Receipt }) {
  const [first] = receipt.rows;
  if (first === undefined) return null;
  return (
    <Panel title="Usage">
      <Facts rows={Object.entries(first.usage).map(([name, count]) => [name.replaceAll('_', ' '), showCount(count)] as const)} />
      <details>
        <summary>As the vendor wrote it</summary>
        <pre className={styles['names']}>{JSON.stringify(first.usage_reported, undefined, 2)}</pre>
      </details>
    </Panel>
  );
}
