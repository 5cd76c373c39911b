import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { showCount } from '../../format/numbers.ts';
import { paths, placeOf } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';

type Model = Reply<'models.list'>['items'][number];
const modelsMax = 500;

/** The models that lead to an upstream, and those of them without a price. */
export function ModelsPanel({ upstream }: { readonly upstream: string }) {
  const { data, error, refetch } = useQuery({
    ...question('models.list', { query: { upstream, limit: modelsMax } }),
    // Its list of models arrives a moment after the upstream.
    refetchInterval: ({ state }) => (state.data?.items.length === 0 ? 2000 : 60_000),
  });
  const unpriced = (data?.items ?? []).filter(({ is_priced: isPriced }) => !isPriced);
  const columns: readonly Column<Model>[] = [
    { id: 'name', title: 'Model', grows: true, render: ({ name }) => <Link {...placeOf.model(name)}>{name}</Link> },
    { id: 'kinds', title: 'Kind', priority: 2, render: ({ kinds }) => kinds.join(', ') },
    {
      id: 'from',
      title: 'Known from',
      priority: 3,
      render: ({ is_named: isNamed }) => (isNamed ? 'the configuration' : "the vendor's list"),
    },
    {
      id: 'price',
      title: 'Price',
      grows: true,
      render: ({ is_priced: isPriced }) =>
        isPriced ? <State sign="●" word="has one" tone="good" /> : <State sign="▲" word="none" tone="warning" />,
    },
  ];
  return (
    <Panel title={data === undefined ? 'Models' : `Models (${showCount(data.items.length)})`}>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data?.items.length === 0 && (
        <Empty title="No model leads there yet.">
          The vendor's list is read every few minutes; a model can also be named in the configuration.
        </Empty>
      )}
      {unpriced.length > 0 && (
        <Notice tone="warning" action={<Link to={paths.prices}>Prices</Link>}>
          {unpriced.length === 1 ? 'A model has' : `${showCount(unpriced.length)} models have`} no price: calls are booked at zero.
        </Notice>
      )}
      {data !== undefined && data.items.length > 0 && (
        <DataTable
          caption="Models at this upstream"
          columns={columns}
          rows={[...unpriced, ...data.items.filter(({ is_priced: isPriced }) => isPriced)]}
          keyOf={({ name }) => name}
        />
      )}
    </Panel>
  );
}
