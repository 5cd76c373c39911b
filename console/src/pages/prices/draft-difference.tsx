import { useQuery } from '@tanstack/react-query';

import type { Reply } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { saveText, writeCsv } from '../../format/csv.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { InlineSelect } from '../../ui/field.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import type { DraftProps } from './draft-props.ts';
import { Change } from './price-table.tsx';
import { labelOfMember } from './price-words.ts';
import styles from './prices-page.module.css';

type PriceChange = Reply<'price_drafts.diff'>['changes'][number];

/** Every price that the draft changes, against any book. */
export function DraftDifference({ draft }: DraftProps) {
  const [search, change] = useAddress();
  const base = one(search, 'base') ?? 'in_force';
  const whole = one(search, 'whole') === '1';
  const books = useQuery(question('price_books.list', { query: { limit: 50 } }));
  const input = { params: { id: draft.id }, body: { base, whole } };
  const { data, error, refetch } = useQuery({ ...question('price_drafts.diff', input), placeholderData: (before) => before });
  return (
    <>
      <div className={styles['controls']}>
        <InlineSelect
          label="Against"
          value={base}
          options={[
            { value: 'in_force', text: 'against prices in force' },
            { value: 'shipped', text: 'against those of this release' },
            ...(books.data?.items ?? []).map(({ number }) => ({ value: String(number), text: `against book store-${number}` })),
          ]}
          onChange={(next) => change({ base: next === 'in_force' ? undefined : next })}
        />
        <Button pressed={whole} onClick={() => change({ whole: whole ? undefined : '1' })}>
          As a whole list
        </Button>
        <Button
          icon="download"
          disabledBecause={data === undefined ? 'There is nothing yet.' : undefined}
          onClick={() =>
            saveText(
              `difference-${draft.id}.csv`,
              writeCsv([
                ['entry', 'member', 'before', 'after'],
                ...(data?.changes ?? []).map(({ entry, member, before, after }) => [entry, member, before ?? '', after ?? '']),
              ]),
            )
          }
        >
          CSV
        </Button>
      </div>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={8} />}
      {data !== undefined && error === null && <Changes found={data} whole={whole} />}
      <Equivalent
        command={`weir prices diff prices.json${whole ? ' --whole' : ''}`}
        curl={curlOf(location.origin, 'price_drafts.diff', input)}
      />
    </>
  );
}

function Changes({ found, whole }: { readonly found: Reply<'price_drafts.diff'>; readonly whole: boolean }) {
  const { changes, hidden, is_complete: isComplete } = found;
  const models = new Set(changes.map(({ entry }) => entry.split('@')[0]));
  const added = changes.filter(({ member, before }) => member === '' && before === null).length;
  const ended = changes.filter(({ member, after }) => member === '' && after === null).length;
  return (
    <>
      <p>
        {models.size} {models.size === 1 ? 'model changes' : 'models change'} · {added} new · {ended} end
        {whole && ', with the draft as the whole list'}
      </p>
      {hidden.map(({ layer, models: names }) => (
        <Notice key={layer} tone="warning">
          {names.join(', ')}: {layer} has a price of its own, which stays in force above every published book.
        </Notice>
      ))}
      {!isComplete && <Notice tone="info">Only the first {changes.length} differences are listed.</Notice>}
      {changes.length === 0 ? (
        <Empty title="Nothing differs.">The draft has the prices of this book. Change a price in step 1.</Empty>
      ) : (
        <DataTable caption="Differences of prices" columns={columns} rows={changes} keyOf={({ entry, member }) => `${entry} ${member}`} />
      )}
    </>
  );
}

const columns: readonly Column<PriceChange>[] = [
  { id: 'entry', title: 'Price', render: ({ entry }) => <span title={entry}>{entry}</span> },
  { id: 'member', title: 'For', render: ({ member }) => (member === '' ? 'the whole entry' : labelOfMember(member)) },
  { id: 'before', title: 'Before', figures: true, priority: 2, render: ({ before }) => before ?? '—' },
  { id: 'after', title: 'Draft', figures: true, render: ({ after }) => after ?? '—' },
  {
    id: 'change',
    title: 'Change',
    figures: true,
    render: ({ member, before, after }) => {
      if (member === '' && before === null) return <State sign="+" word="new" tone="neutral" />;
      if (member === '' && after === null) return <State sign="✗" word="ends" tone="warning" />;
      return <Change before={before} after={after} />;
    },
  },
];
