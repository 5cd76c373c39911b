import { Link } from '@tanstack/react-router';

import { Amount } from '../../components/amount.tsx';
import { useZone } from '../../components/use-page.ts';
import { columnDigits, nanosOf } from '../../format/money.ts';
import { showDuration } from '../../format/numbers.ts';
import { showMinute, showRowTime } from '../../format/times.ts';
import { placeOf } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { State } from '../../ui/state.tsx';
import { isOpen, phases, showBytes, type Video } from './video-words.ts';

type Props = { readonly videos: readonly Video[]; readonly open: string | undefined; readonly onOpen: (video: Video) => void };

const none = '—';

/** Videos as rows. */
export function VideosTable({ videos, open, onOpen }: Props) {
  const zone = useZone();
  const digits = columnDigits(videos.map(({ charged, held }) => nanosOf(charged ?? held)));
  const columns: readonly Column<Video>[] = [
    { id: 'time', title: 'Made', render: ({ created_at: at }) => <time dateTime={at}>{showRowTime(at, zone)}</time> },
    {
      id: 'phase',
      title: 'Phase',
      render: (video) => (
        <>
          <State {...phases[video.phase]} /> {isOpen(video) && `${Math.round(video.progress)} %`}
        </>
      ),
    },
    {
      id: 'alert',
      title: 'Alert',
      priority: 3,
      render: ({ alert }) => (alert === null ? '' : <span title={alert.reason}>▲ {alert.reason}</span>),
    },
    { id: 'user', title: 'User', grows: true, priority: 2, render: ({ user }) => <Link {...placeOf.user(user)}>{user}</Link> },
    { id: 'model', title: 'Model', grows: true, priority: 2, render: ({ model }) => model },
    { id: 'upstream', title: 'Upstream', grows: true, priority: 3, render: ({ upstream }) => upstream },
    { id: 'length', title: 'Length', figures: true, priority: 3, render: ({ duration_ms: ms }) => (ms === null ? none : showDuration(ms)) },
    { id: 'size', title: 'Size', figures: true, priority: 3, render: ({ file }) => (file === null ? none : showBytes(file.bytes)) },
    {
      id: 'expires',
      title: 'File until',
      figures: true,
      priority: 3,
      render: ({ file }) => (file?.expires_at == null ? none : showMinute(file.expires_at, zone)),
    },
    {
      id: 'amount',
      title: 'Amount',
      figures: true,
      render: ({ charged, held }) => <Amount money={charged ?? held} digits={digits} estimated={charged === null} />,
    },
  ];
  return <DataTable caption="Videos" columns={columns} rows={videos} keyOf={({ id }) => id} openKey={open} onOpen={onOpen} />;
}
