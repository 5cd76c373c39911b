import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';

import { apiPath, ask, encodeQuery, type Reply } from '../../api/client.ts';
import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one, type Search } from '../../components/search-params.ts';
import { isSpanName, namedSpans, readSpan } from '../../components/span.ts';
import { useAddress, useMinute, useZone } from '../../components/use-page.ts';
import { showMinute, showRowTime, showTime } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { InlineSelect } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Split } from '../../ui/split.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { AuditPanel, Subject } from './audit-panel.tsx';
import { ChainState } from './chain-state.tsx';
import { describeDifferences, differencesOf } from './differences.ts';

type Entry = Reply<'audit.list'>['items'][number];

const filters: readonly FilterField[] = [
  { name: 'actor', text: 'who', placeholder: 'person:ann, token:ci, cli:root' },
  { name: 'action', text: 'action', placeholder: 'keys.create' },
  { name: 'subject', text: 'subject', placeholder: 'key:k3jd82ls0a, user:ann, target:openai/gpt-5' },
  { name: 'via', text: 'way', values: ['api', 'cli', 'gateway', 'configuration'] },
];

/** The filters of the address, with its span if it has one. Without a span all times are meant. */
function useAuditQuery(): { readonly filter: Readonly<Record<string, string>>; readonly span: string } {
  const [search] = useAddress();
  const zone = useZone();
  const nowMs = useMinute();
  const fields = readFilters(filters, search) as Readonly<Record<string, string>>;
  const r = one(search, 'r');
  const [start, end] = [one(search, 'from'), one(search, 'to')];
  if (start !== undefined && end !== undefined)
    return { filter: { ...fields, from: start, to: end }, span: `${showMinute(start, zone)} to ${showMinute(end, zone)}` };
  if (!isSpanName(r)) return { filter: fields, span: 'all' };
  const { from, to } = readSpan({ r }, zone, nowMs, r);
  return { filter: { ...fields, from, to }, span: r };
}

/** Who changed what. */
export function AuditPage() {
  const [search, change] = useAddress();
  const { filter, span } = useAuditQuery();
  const open = one(search, 'row');
  const save = (): void => location.assign(`${apiPath}/audit/export?${encodeQuery(filter)}`);
  useKeys({ e: save });
  const isNamed = span === 'all' || isSpanName(span);
  return (
    <Split panel={open !== undefined && <AuditPanel sequence={open} onClose={() => change({ row: undefined })} />}>
      <PageHead title="Audit">
        <InlineSelect
          label="Span of time"
          value={span}
          options={[
            { value: 'all', text: 'all times' },
            ...Object.entries(namedSpans).map(([value, { text }]) => ({ value, text })),
            ...(isNamed ? [] : [{ value: span, text: span }]),
          ]}
          onChange={(value) => change({ r: value === 'all' ? undefined : value, from: undefined, to: undefined })}
        />
        <Button icon="download" shortcut="e" onClick={save}>
          Export
        </Button>
      </PageHead>
      <ChainState onOpen={(row) => change({ row })} />
      <FilterBar fields={filters} />
      <Rows filter={filter} search={search} open={open} onOpen={({ sequence }) => change({ row: String(sequence) }, open !== undefined)} />
    </Split>
  );
}

type RowsProps = {
  readonly filter: Readonly<Record<string, string>>;
  readonly search: Search;
  readonly open: string | undefined;
  readonly onOpen: (entry: Entry) => void;
};

function Rows({ filter, search, open, onOpen }: RowsProps) {
  const zone = useZone();
  const pages = useInfiniteQuery({
    queryKey: ['audit.list', filter],
    queryFn: ({ pageParam, signal }) =>
      ask('audit.list', { query: { ...filter, limit: 100, ...(pageParam !== '' && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'audit.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  if (pages.isError && pages.data === undefined) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Skeleton rows={14} />;
  const rows = pages.data.pages.flatMap(({ items }) => items);
  if (rows.length === 0)
    return (
      <Empty title="No change fits.">
        {Object.keys(search).length === 0 ? 'Nothing was changed yet.' : 'Choose another span of time, or remove a filter.'}
      </Empty>
    );
  return (
    <>
      <DataTable
        caption="Changes, newest first"
        columns={columnsOf(zone)}
        rows={rows}
        keyOf={({ sequence }) => String(sequence)}
        openKey={open}
        onOpen={onOpen}
      />
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.fetchNextPage()} />}
      {pages.hasNextPage && (
        <p>
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            More
          </Button>
        </p>
      )}
    </>
  );
}

const columnsOf = (zone: string): readonly Column<Entry>[] => [
  {
    id: 'time',
    title: 'Time',
    render: ({ at }) => (
      <time dateTime={at} title={showTime(at, zone)}>
        {showRowTime(at, zone)}
      </time>
    ),
  },
  { id: 'actor', title: 'Who', priority: 2, render: ({ actor }) => actor },
  { id: 'action', title: 'Action', render: ({ action }) => <code>{action}</code> },
  { id: 'subject', title: 'Subject', grows: true, priority: 2, render: ({ subject }) => <Subject subject={subject} /> },
  {
    id: 'change',
    title: 'Change',
    grows: true,
    priority: 3,
    render: ({ before, after }) => {
      const words = describeDifferences(differencesOf(before, after));
      return <span title={words}>{words}</span>;
    },
  },
  { id: 'note', title: 'Note', grows: true, priority: 3, render: ({ note }) => (note === null ? '' : <span title={note}>{note}</span>) },
  { id: 'via', title: 'Way', priority: 3, render: ({ via }) => via },
];
