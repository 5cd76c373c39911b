import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

import type { Receipt } from '../../../../src/billing/receipts/receipt.ts';
import { apiPath } from '../../api/client.ts';
import { isLost, queryClient, question, versionedQuestion } from '../../api/query-client.ts';
import { lacks, may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { HistoryLink } from '../../components/history-link.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useAddress, useMinute, useSession, useZone } from '../../components/use-page.ts';
import { Amount } from '../../components/amount.tsx';
import { showDuration } from '../../format/numbers.ts';
import { showAgo, showMinute, showTime } from '../../format/times.ts';
import { paths, placeOf } from '../../paths.ts';
import { ReceiptView } from '../../receipts/receipt-view.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { Facts } from '../../ui/panel.tsx';
import { SidePanel } from '../../ui/split.tsx';
import { State } from '../../ui/state.tsx';
import { say } from '../../ui/toasts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { contentOf } from './poster.tsx';
import { hasFile, isOpen, phases, showBytes, type Video } from './video-words.ts';
import styles from './videos-page.module.css';

/** One video: how far it is, what it shows, what it cost. */
export function VideoPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery(versionedQuestion('videos.get', { params: { id } }));
  useVideoEvents(data !== undefined && isOpen(data.body) ? id : undefined, () => void refetch());
  return (
    <SidePanel
      label="Video"
      title={
        <>
          {id} <Copy text={id} label="Copy the id" />
        </>
      }
      onClose={onClose}
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={8} />}
      {data !== undefined && <Details video={data.body} version={data.version} />}
    </SidePanel>
  );
}

/** Calls back with each change of a video, until it has ended. */
function useVideoEvents(id: string | undefined, onChange: () => void): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (id === undefined) return undefined;
    const source = new EventSource(`${apiPath}/videos/${encodeURIComponent(id)}/events`);
    source.addEventListener('video', (event) => {
      const { ended_at: endedAt } = JSON.parse((event as MessageEvent<string>).data) as Video;
      latest.current();
      if (endedAt === null) return;
      source.close();
      void queryClient.invalidateQueries({ queryKey: ['videos.list'] });
    });
    return () => source.close();
  }, [id]);
}

function Details({ video, version }: { readonly video: Video; readonly version: string | undefined }) {
  const session = useSession();
  const nowMs = useMinute();
  const { id, phase, progress, alert, error } = video;
  return (
    <>
      <p className={styles['line']}>
        <State {...phases[phase]} />
        {isOpen(video) && <span className="figures">{Math.round(progress)} %</span>}
      </p>
      {isOpen(video) && <Meter label="Progress" share={progress / 100} tone={alert === null ? 'plain' : 'warning'} />}
      {alert !== null && (
        <Notice tone="warning">
          {alert.reason} ({showAgo(alert.since, nowMs)})
        </Notice>
      )}
      {error !== null && (
        <Notice tone="bad">
          {error.message} ({error.code})
        </Notice>
      )}
      {hasFile(video, nowMs) && may(session, 'content:read') && <Player id={id} />}
      {hasFile(video, nowMs) && !may(session, 'content:read') && <p className={styles['faint']}>{lacks(session, 'content:read')}</p>}
      <VideoFacts video={video} />
      {!isOpen(video) && <VideoReceipt id={id} />}
      <Actions video={video} version={version} />
    </>
  );
}

/** The player reads the file in parts, when it is wanted: each reading is a row of the audit log. */
function Player({ id }: { readonly id: string }) {
  const player = useRef<HTMLVideoElement>(null);
  const [isBroken, setIsBroken] = useState(false);
  useKeys({
    ' ': () => {
      const element = player.current;
      if (element === null) return;
      if (element.paused) void element.play().catch(() => setIsBroken(true));
      else element.pause();
    },
  });
  return (
    <>
      <video
        key={id}
        ref={player}
        className={styles['player']}
        src={contentOf(id)}
        controls
        preload="none"
        aria-label="Player"
        onError={() => setIsBroken(true)}
      >
        <track kind="captions" />
      </video>
      {isBroken && <Notice tone="info">This browser cannot play the file. It can be saved and opened with another program.</Notice>}
      <p className={styles['links']}>
        <a href={contentOf(id)} download={`${id}.mp4`}>
          Save the file
        </a>
      </p>
    </>
  );
}

function VideoFacts({ video }: { readonly video: Video }) {
  const zone = useZone();
  const nowMs = useMinute();
  const {
    user,
    key,
    key_id: keyId,
    model,
    upstream,
    upstream_model: made,
    mode,
    created_at: at,
    ended_at: end,
    last_poll_at: poll,
  } = video;
  const { duration_ms: duration, file, held, charged } = video;
  return (
    <Facts
      rows={[
        [
          'Key',
          <Link key="key" to={paths.key(keyId)}>
            <KeyName user={user} name={key} />
          </Link>,
        ],
        ['Model', made === model ? model : `${model} → ${made}`],
        ['Made from', mode],
        [
          'Upstream',
          <Link key="upstream" {...placeOf.upstream(upstream)}>
            {upstream}
          </Link>,
        ],
        ['Made', `${showTime(at, zone)}, ${showAgo(at, nowMs)}`],
        ['Ended', end === null ? 'not yet' : `${showTime(end, zone)}, after ${showDuration(Date.parse(end) - Date.parse(at))}`],
        ...(end === null ? ([['Last answer of the upstream', poll === null ? '—' : showTime(poll, zone)]] as const) : []),
        ['Length', duration === null ? '—' : showDuration(duration)],
        ['File', file === null ? '—' : `${showBytes(file.bytes)}, ${file.type}`],
        ['File until', file?.expires_at == null ? '—' : `${showMinute(file.expires_at, zone)}, ${showAgo(file.expires_at, nowMs)}`],
        ['Held', <Amount key="held" money={held} />],
        ['Charged', charged === null ? 'at the end' : <Amount key="charged" money={charged} />],
      ]}
    />
  );
}

function VideoReceipt({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({ ...question('videos.receipt', { params: { id } }), staleTime: 60_000 });
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={4} />;
  // The answer is a receipt; its schema is the server's own.
  return <ReceiptView receipt={data as unknown as Receipt} />;
}

function Actions({ video, version }: { readonly video: Video; readonly version: string | undefined }) {
  const session = useSession();
  const [, change] = useAddress();
  const [isAsked, setIsAsked] = useState(false);
  const { id, call_id: callId } = video;
  return (
    <>
      <p className={styles['links']}>
        <Link to={paths.call(callId)}>Its call</Link>
        <HistoryLink subject={`video:${id}`} />
      </p>
      {may(session, 'limits:write') && (
        <div>
          <Button
            kind="danger"
            icon="trash"
            disabledBecause={isOpen(video) ? 'It is being made: it can be deleted when it has ended.' : undefined}
            onClick={() => setIsAsked(true)}
          >
            Delete
          </Button>
        </div>
      )}
      <ChangeDialog
        open={isAsked}
        onClose={() => setIsAsked(false)}
        title={`Delete ${id}?`}
        action="Delete the video"
        danger
        operation="videos.delete"
        input={{ params: { id }, version }}
        command={`weir videos delete ${id}`}
        forgets={['videos']}
        subject={`video:${id}`}
        onDone={() => {
          say('The video is deleted');
          change({ video: undefined });
        }}
      >
        {() => <p>Its file is removed, for its owner too. This cannot be undone. Its receipt stays in the books.</p>}
      </ChangeDialog>
    </>
  );
}
