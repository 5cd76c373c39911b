import type { Reply } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Price, priceDigits } from '../../components/price.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useMinute } from '../../components/use-page.ts';
import { usePages } from '../../components/use-pages.ts';
import { saveText, writeCsv } from '../../format/csv.ts';
import { showUsd } from '../../format/money.ts';
import { countOf } from '../../format/numbers.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Split } from '../../ui/split.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { LayerName, type ListedPrice } from './layer-name.tsx';
import { PricePanel } from './price-panel.tsx';
import { asEntry, conditionsOf, idOfEntry, plainPrices, type PriceEntry } from './price-words.ts';
import styles from './prices-page.module.css';

const keyOf = (item: ListedPrice): string => idOfEntry(asEntry(item.entry));
export const dayToday = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10);

/** The prices of a day, with the layer of each and what it hides. */
export function PriceList() {
  const [search, change] = useAddress();
  const today = dayToday(useMinute());
  const [at, vendor, model] = [one(search, 'at') ?? today, one(search, 'vendor') ?? '', one(search, 'model') ?? ''];
  const query = { at, ...(vendor !== '' && { vendor }), ...(model !== '' && { model }) };
  const pages = usePages('prices.list', { query }, 500);
  const [first] = pages.data?.pages ?? [];
  const rows = pages.data?.pages.flatMap(({ items }) => items) ?? [];
  const open = rows.find((row) => keyOf(row) === one(search, 'open'));
  useKeys({ e: () => exportRows(rows, at) });
  return (
    <Split panel={open !== undefined && <PricePanel price={open} onClose={() => change({ open: undefined })} />}>
      <div className={styles['controls']}>
        <TextField
          label="In force on (UTC)"
          type="date"
          value={at === 'all' ? '' : at}
          onChange={(day) => change({ at: day === '' || day === today ? undefined : day, open: undefined }, true)}
        />
        <TextField label="Vendor" value={vendor} onChange={(text) => change({ vendor: text || undefined }, true)} />
        <TextField label="Model contains" value={model} onChange={(text) => change({ model: text || undefined }, true)} />
        <Button pressed={at === 'all'} onClick={() => change({ at: at === 'all' ? undefined : 'all' })}>
          All windows
        </Button>
        <Button icon="download" shortcut="e" onClick={() => exportRows(rows, at)}>
          CSV
        </Button>
      </div>
      {first !== undefined && <Layers page={first} />}
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {first === undefined && !pages.isError && <Skeleton rows={14} />}
      {first !== undefined && rows.length === 0 && (
        <Empty title="No price fits." line={`weir prices list --at ${at}`}>
          Choose another day, or a shorter name. A model without a price costs nothing, or is refused, as the configuration says.
        </Empty>
      )}
      {rows.length > 0 && (
        <DataTable
          caption="Prices in USD"
          columns={columnsOf(rows)}
          rows={rows}
          keyOf={keyOf}
          openKey={open === undefined ? undefined : keyOf(open)}
          onOpen={(row) => change({ open: keyOf(row) }, open !== undefined)}
        />
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          More
        </Button>
      )}
      <Equivalent
        command={['weir prices list', `--at ${at}`, vendor && `--vendor ${vendor}`, model && `--model ${model}`].filter(Boolean).join(' ')}
        curl={curlOf(location.origin, 'prices.list', { query })}
      />
    </Split>
  );
}

/** The books that make the list, the highest first. */
function Layers({ page: { version, layers, overrides } }: { readonly page: Reply<'prices.list'> }) {
  return (
    <p className={styles['layers']}>
      <span>
        Price version <code>{version}</code>
      </span>
      {overrides.length > 0 && <span>{countOf(overrides.length, 'price')} in the configuration, above all</span>}
      {layers.toReversed().map(({ layer, version: label, entries }) => (
        <span key={layer}>
          <LayerName layer={layer} /> ({label}, {countOf(entries, 'price')})
        </span>
      ))}
    </p>
  );
}

const priceOf = (item: ListedPrice, meter: string): string | undefined =>
  plainPrices(asEntry(item.entry)).find(({ member }) => member === `tiers.0.prices.${meter}`)?.price;

/** Prices that have no column of their own. */
const otherPrices = (entry: PriceEntry): string =>
  plainPrices(entry)
    .filter(({ member }) => !/^tiers\.0\.prices\.(?:input|output|cacheRead)$/.test(member))
    .map(({ label, price }) => `${label} ${showUsd(price)}`)
    .concat(conditionsOf(entry))
    .join(' · ');

/** A column of the price of a meter. */
function priceColumn(rows: readonly ListedPrice[], meter: string, title: string): Column<ListedPrice> {
  const digits = priceDigits(rows.flatMap((row) => priceOf(row, meter) ?? []));
  const render = (row: ListedPrice) => {
    const usd = priceOf(row, meter);
    return usd === undefined ? '—' : <Price {...{ usd, digits }} />;
  };
  return { id: meter, title, figures: true, render };
}

const columnsOf = (rows: readonly ListedPrice[]): readonly Column<ListedPrice>[] => [
  {
    id: 'model',
    title: 'Model',
    grows: true,
    render: ({ vendor, model }) => <span title={`${vendor}/${model}`}>{`${vendor}/${model}`}</span>,
  },
  { id: 'from', title: 'From', figures: true, priority: 3, render: ({ entry }) => asEntry(entry).effectiveFrom },
  priceColumn(rows, 'input', 'Input / 1 M'),
  { ...priceColumn(rows, 'cacheRead', 'Cache read / 1 M'), priority: 3 },
  priceColumn(rows, 'output', 'Output / 1 M'),
  {
    id: 'other',
    title: 'Others',
    grows: true,
    priority: 3,
    render: ({ entry }) => <span title={otherPrices(asEntry(entry))}>{otherPrices(asEntry(entry)) || '—'}</span>,
  },
  { id: 'layer', title: 'From the book', priority: 2, render: ({ layer }) => <LayerName layer={layer} /> },
  {
    id: 'hides',
    title: 'Hides',
    priority: 2,
    render: ({ hides }) => (hides.length === 0 ? '—' : hides.map(({ layer }) => layer).join(', ')),
  },
];

/** One line for each single price, so that a spreadsheet can compare them. */
function exportRows(rows: readonly ListedPrice[], at: string): void {
  const head = ['vendor', 'model', 'from', 'variant', 'price', 'usd', 'book', 'hides'];
  const lines = rows.flatMap(({ entry, layer, hides }) => {
    const { vendor, model, effectiveFrom, variant = '', ...rest } = asEntry(entry);
    const hidden = hides.map((each) => each.layer).join(' ');
    const of = { vendor, model, effectiveFrom, ...rest };
    return plainPrices(of).map(({ member, price }) => [vendor, model, effectiveFrom, variant, member, price, layer, hidden]);
  });
  saveText(`prices-${at}.csv`, writeCsv([head, ...lines]));
}
