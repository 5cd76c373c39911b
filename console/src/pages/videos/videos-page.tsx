import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { ask, type Query, type Reply } from '../../api/client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Split } from '../../ui/split.tsx';
import { tabClass, Tabs } from '../../ui/tabs.tsx';
import { Gallery } from './gallery.tsx';
import { Storage } from './storage.tsx';
import { VideoPanel } from './video-panel.tsx';
import { isOpen, phases, sortByUrgency, type Video } from './video-words.ts';
import { VideosTable } from './videos-table.tsx';
import styles from './videos-page.module.css';

const filters: readonly FilterField[] = [
  { name: 'user', text: 'user' },
  { name: 'phase', text: 'phase', values: Object.keys(phases), repeats: true },
  { name: 'alert', text: 'alert', values: ['true', 'false'] },
  { name: 'upstream', text: 'upstream' },
  { name: 'key_id', text: 'key', placeholder: 'id of a key' },
];

const pageRows = 60;
const openMs = 2000;

/** Videos, newest first. While some are being made, they are asked again every two seconds. */
function useVideos(query: Query<'videos.list'>) {
  return useInfiniteQuery({
    queryKey: ['videos.list', query],
    queryFn: ({ pageParam, signal }) =>
      ask('videos.list', { query: { ...query, limit: pageRows, ...(pageParam !== '' && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'videos.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.pages.some(({ items }) => items.some(isOpen)) === true ? openMs : 15_000),
  });
}

/** What is being made, and what did it cost? */
export function VideosPage() {
  const [search, change] = useAddress();
  const open = one(search, 'video');
  const isTable = one(search, 'view') === 'table';
  return (
    <Split panel={open !== undefined && <VideoPanel id={open} onClose={() => change({ video: undefined })} />}>
      <PageHead title="Videos" />
      <Tabs label="View">
        <Link
          to={paths.videos}
          search={{ ...search, view: undefined }}
          className={tabClass}
          activeOptions={{ explicitUndefined: true }}
          aria-current={isTable ? undefined : 'page'}
        >
          Gallery
        </Link>
        <Link to={paths.videos} search={{ ...search, view: 'table' }} className={tabClass} aria-current={isTable ? 'page' : undefined}>
          Table
        </Link>
      </Tabs>
      <FilterBar fields={filters} />
      <Videos isTable={isTable} open={open} />
    </Split>
  );
}

function Videos({ isTable, open }: { readonly isTable: boolean; readonly open: string | undefined }) {
  const session = useSession();
  const [search, change] = useAddress();
  const query = readFilters(filters, search) as Query<'videos.list'>;
  const pages = useVideos(query);
  // Each reading of a file is a row of the audit log, so pictures of others are shown only if they are wanted.
  const mayRead = may(session, 'content:read');
  const pictures = one(search, 'pictures') ?? (session.users === null ? '0' : '1');
  if (pages.isError && pages.data === undefined) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Skeleton rows={10} />;
  const videos = sortByUrgency(pages.data.pages.flatMap(({ items }) => items));
  if (videos.length === 0) return <NoVideos isFiltered={Object.keys(query).length > 0} />;
  const alerts = videos.filter((video) => video.alert !== null && isOpen(video)).length;
  const onOpen = ({ id }: Video): void => change({ video: id }, open !== undefined);
  return (
    <>
      {alerts > 0 && (
        <Notice tone="warning">
          {alerts === 1 ? 'A video needs' : `${alerts} videos need`} somebody to look: the upstream has not said how it goes on.
        </Notice>
      )}
      {mayRead && !isTable && (
        <CheckField
          label="Show the first frames"
          help="Each file is read once for it, which the audit log notes."
          checked={pictures === '1'}
          onChange={(checked) => change({ pictures: checked ? '1' : '0' }, true)}
        />
      )}
      {isTable ? (
        <VideosTable videos={videos} open={open} onOpen={onOpen} />
      ) : (
        <Gallery videos={videos} hasPictures={mayRead && pictures === '1'} open={open} onOpen={onOpen} />
      )}
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.hasNextPage && (
        <p className={styles['more']}>
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            More
          </Button>
        </p>
      )}
      <Storage users={[...new Set(videos.map(({ user }) => user))]} />
    </>
  );
}

function NoVideos({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No video fits.">Remove a filter.</Empty>;
  const address = `${location.protocol}//${location.hostname}:8080`;
  const line = [
    `curl ${address}/v1/video/generations -H "authorization: Bearer $WEIR_API_KEY" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '{"model":"vendor-imagine-video","prompt":"a red kite over dunes","duration":5,"metadata":{"resolution":"480p"}}'`,
  ].join('\n');
  return (
    <Empty title="No video was made yet." line={line}>
      This line makes one; set the port to that of your gateway. The playground makes one too. It appears here at once, with its progress.
    </Empty>
  );
}
