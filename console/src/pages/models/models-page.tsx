import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';

import { question } from '../../api/query-client.ts';
import { Amount } from '../../components/amount.tsx';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { interfaceTitles, type Model, showLimits, showPart, showPrices, tiersOf, ways } from './model-words.ts';
import styles from './models-page.module.css';

const rowsMax = 500;

/** Where a call of each name goes. */
export function ModelsPage() {
  const [search, change] = useAddress();
  const wanted = one(search, 'model') ?? '';
  const upstream = one(search, 'upstream');
  const models = useQuery(question('models.list', { query: { limit: rowsMax, ...(upstream !== undefined && { upstream }) } }));
  const { data } = models;
  const shown = (data?.items ?? []).filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      <PageHead title="Models & routes" />
      <div className={styles['stack']}>
        <div className={styles['find']}>
          <TextField
            label="Name contains"
            type="search"
            value={wanted}
            onChange={(text) => change({ model: text === '' ? undefined : text }, true)}
          />
        </div>
        {models.isError && <Failure error={models.error} onRetry={() => void models.refetch()} />}
        {data === undefined && !models.isError && <Skeleton rows={10} />}
        {data !== undefined && shown.length > 0 && <ModelsTable models={shown} />}
        {data !== undefined && data.next_cursor !== null && (
          <Notice tone="info">These are the first {showCount(rowsMax)} models. The command has all: weir models list</Notice>
        )}
        {data !== undefined && shown.length === 0 && <NoModels isFiltered={data.items.length > 0} />}
      </div>
    </>
  );
}

function NoModels({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No model has such a name.">A call of another name may still match a pattern.</Empty>;
  return (
    <Empty title="No running gateway has a model.">
      Models come with upstreams. <Link to={paths.upstreams}>See the upstreams</Link>
    </Empty>
  );
}

function ModelsTable({ models }: { readonly models: readonly Model[] }) {
  const navigate = useNavigate();
  const columns: readonly Column<Model>[] = [
    { id: 'name', title: 'Model', grows: true, render: ({ name }) => <Link to={paths.model(name)}>{name}</Link> },
    { id: 'shares', title: 'First targets', render: (model) => <Shares model={model} /> },
    { id: 'interfaces', title: 'Interfaces', priority: 2, render: (model) => <InterfaceMarks model={model} /> },
    {
      id: 'price',
      title: 'Price of 1 M tokens',
      grows: true,
      priority: 2,
      render: ({ targets, is_priced: isPriced }) =>
        isPriced ? (targets[0] === undefined ? '' : showPrices(targets[0].prices)) : 'no price at some targets',
    },
    { id: 'limits', title: 'Limits', grows: true, priority: 3, render: ({ limits }) => showLimits(limits) },
    { id: 'calls', title: 'Calls, 24 h', figures: true, priority: 2, render: ({ last_day: day }) => showCount(day.calls) },
    { id: 'spend', title: 'Spend, 24 h', figures: true, render: ({ last_day: day }) => <Amount money={day.amount} /> },
    {
      id: 'from',
      title: 'From',
      priority: 3,
      render: ({ is_named: isNamed, is_from_layer: isFromLayer }) => (isFromLayer ? 'layer' : isNamed ? 'file' : 'found'),
    },
  ];
  return (
    <DataTable
      caption="Models"
      columns={columns}
      rows={models}
      keyOf={({ name }) => name}
      onOpen={({ name }) => void navigate({ to: paths.model(name) })}
    />
  );
}

/** The shares of the first tier as a bar, and in words. */
export function Shares({ model }: { readonly model: Model }) {
  const [first = []] = tiersOf(model);
  const words = first.map(({ id, share }) => `${id} ${showPart(share)}`).join(', ') || 'no target';
  const begins = first.map((_target, index) => first.slice(0, index).reduce((sum, { share }) => sum + share * 100, 0));
  return (
    <>
      <svg className={styles['shares']} viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={words}>
        <title>{words}</title>
        {first.map(({ id, share }, index) => (
          <rect key={`${id} ${begins[index] ?? 0}`} x={begins[index] ?? 0} y="0" width={share * 100} height="8" />
        ))}
      </svg>
    </>
  );
}

/** How the targets serve each interface: a mark for each, with its words. */
export function InterfaceMarks({ model }: { readonly model: Pick<Model, 'interfaces'> }) {
  return (
    <span className={styles['marks']}>
      {model.interfaces.map(({ interface: spoken, way }) => {
        const words = `${interfaceTitles[spoken] ?? spoken}: ${ways[way].word}`;
        return (
          <span key={spoken} title={words}>
            <span aria-hidden="true">{ways[way].sign}</span>
            <span className="visually-hidden">{words}.</span>
          </span>
        );
      })}
    </span>
  );
}
