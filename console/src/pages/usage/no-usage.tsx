import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { question } from '../../api/query-client.ts';
import { may, mayPlay } from '../../api/sign-in.ts';
import { readFilters } from '../../components/filter-bar.tsx';
import { useAddress, useSession, useZone } from '../../components/use-page.ts';
import { showDay, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Empty } from '../../ui/notice.tsx';
import { callFilters } from '../calls/call-filters.ts';

/** A span without calls: when the last one before it was, by the same filters, or how to make a first one. */
export function NoUsage({ from }: { readonly from: string }) {
  const zone = useZone();
  const session = useSession();
  const [search] = useAddress();
  const query = { ...readFilters(callFilters, search), to: from, limit: 1 };
  const { data } = useQuery({ ...question('calls.list', { query }), enabled: may(session, 'calls:read') });
  const [last] = data?.items ?? [];
  if (last !== undefined) {
    const [begin, end] = [-1, 1].map((side) => new Date(Date.parse(last.at) + side * halfDayMs).toISOString());
    return (
      <Empty title="No calls in this span.">
        The last one before it was on{' '}
        <Link to={paths.usage} search={{ ...search, from: begin, to: end, r: undefined }}>
          <time dateTime={last.at} title={showMinute(last.at, zone)}>
            {showDay(last.at, zone)}
          </time>
        </Link>
        . Choose another span of time, or remove a filter.
      </Empty>
    );
  }
  const isFirst = data !== undefined && data.next_cursor === null && Object.keys(query).length === 2;
  if (isFirst && mayPlay(session))
    return (
      <Empty title="No calls in this span, and none before it.">
        <Link to={paths.playground}>Make a call in the playground</Link>: it is counted here a few seconds after it ends.
      </Empty>
    );
  return <Empty title="No calls in this span.">Choose another span of time, or remove a filter.</Empty>;
}

const halfDayMs = 43_200_000;
