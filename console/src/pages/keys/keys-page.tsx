import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { ask, type Query, type Reply } from '../../api/client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { More } from '../../components/more.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PeopleTabs } from '../../components/people-tabs.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useMinute, useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { BulkBar } from './bulk-bar.tsx';
import { KeysTable } from './keys-table.tsx';
import styles from './keys-page.module.css';
import { NewKeyDialog } from './new-key-dialog.tsx';

const filters: readonly FilterField[] = [
  { name: 'user', text: 'user' },
  { name: 'state', text: 'state', values: ['enabled', 'disabled'] },
];
const dayMs = 86_400_000;

/** Keys that nobody uses, and keys that end soon: filters that the address names by a number of days. */
const savedFilters = [
  { name: 'unused', text: 'Unused for 90 days', days: '90' },
  { name: 'expires', text: 'Expire within 7 days', days: '7' },
] as const;

/** The times of the saved filters, as the API has them. */
function readTimes(search: Parameters<typeof one>[0], nowMs: number): Query<'keys.list'> {
  const at = (name: string, sign: 1 | -1): string | undefined => {
    const days = Number(one(search, name) ?? Number.NaN);
    return Number.isInteger(days) && days > 0 ? new Date(nowMs + sign * days * dayMs).toISOString() : undefined;
  };
  const [unused, expires] = [at('unused', -1), at('expires', 1)];
  return { ...(unused !== undefined && { unused_since: unused }), ...(expires !== undefined && { expires_before: expires }) };
}

/** Who may call what, until when. */
export function KeysPage() {
  const session = useSession();
  const nowMs = useMinute();
  const [search, change] = useAddress();
  const isMaking = one(search, 'new') === '1';
  const setIsMaking = (makes: boolean): void => change({ new: makes ? '1' : undefined });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const mayWrite = may(session, 'keys:write');
  const query = { ...readFilters(filters, search), ...readTimes(search, Math.floor(nowMs / dayMs) * dayMs) };
  const pages = useInfiniteQuery({
    queryKey: ['keys.list', query],
    queryFn: ({ pageParam, signal }) =>
      ask('keys.list', { query: pageParam === '' ? { ...query, limit: 100 } : { ...query, limit: 500, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'keys.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  useKeys({ n: () => mayWrite && setIsMaking(true) });
  const rows = useMemo(() => pages.data?.pages.flatMap(({ items }) => items), [pages.data]);
  const chosenRows = rows?.filter(({ id }) => chosen.has(id)) ?? [];
  return (
    <>
      <PageHead title="Keys">
        {mayWrite && (
          <Button kind="main" icon="plus" onClick={() => setIsMaking(true)}>
            New key
          </Button>
        )}
      </PageHead>
      <PeopleTabs />
      <div className={styles['filters']}>
        <FilterBar fields={filters} />
        <SavedFilters />
      </div>
      {chosenRows.length > 0 && <BulkBar keys={chosenRows} onDone={() => setChosen(new Set())} />}
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {rows === undefined && !pages.isError && <Skeleton rows={12} />}
      {rows?.length === 0 &&
        (Object.keys(query).length > 0 ? (
          <Empty title="No key fits.">Remove a filter.</Empty>
        ) : (
          <Empty title="There is no key yet." line="weir keys create ann ci">
            A key lets a program call, in the name of the user who pays. Make the first one.
          </Empty>
        ))}
      {rows !== undefined && rows.length > 0 && (
        <KeysTable rows={rows} {...(mayWrite && { selection: { keys: chosen, onChange: setChosen } })} />
      )}
      {rows !== undefined && <More pages={pages} />}
      <NewKeyDialog open={isMaking} onClose={() => setIsMaking(false)} />
    </>
  );
}

function SavedFilters() {
  const [search] = useAddress();
  return savedFilters.map(({ name, text, days }) => {
    const isOn = one(search, name) === days;
    return (
      <Link
        key={name}
        to={paths.keys}
        search={{ ...search, [name]: isOn ? undefined : days }}
        className={styles['saved']}
        activeProps={{ 'aria-current': undefined }}
        aria-current={isOn ? 'true' : undefined}
      >
        {text}
      </Link>
    );
  });
}
