import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { useSession } from '../../components/use-page.ts';
import { showUsd } from '../../format/money.ts';
import { paths } from '../../paths.ts';
import { Facts, Panel } from '../../ui/panel.tsx';
import { SidePanel } from '../../ui/split.tsx';
import { LayerName, type ListedPrice } from './layer-name.tsx';
import { asEntry, conditionsOf, plainPrices, type PriceEntry } from './price-words.ts';
import styles from './prices-page.module.css';

/** One price: all that it charges, where it comes from, and what it hides. */
export function PricePanel({ price, onClose }: { readonly price: ListedPrice; readonly onClose: () => void }) {
  const session = useSession();
  const entry = asEntry(price.entry);
  const name = `${entry.vendor}/${entry.model}`;
  return (
    <SidePanel label="Price" title={<h2>{name}</h2>} onClose={onClose}>
      <EntryFacts entry={entry} />
      <Panel title="Where it comes from">
        <Facts
          rows={[
            ['Book', <LayerName key="layer" layer={price.layer} />],
            ['Source', entry.source],
            ['Read on', entry.checked],
            ...(entry.note === undefined ? [] : ([['Note', entry.note]] as const)),
          ]}
        />
      </Panel>
      {price.hides.length > 0 && (
        <Panel title="What it hides">
          {price.hides.map(({ layer, entries }) => (
            <div key={layer} className={styles['lines']}>
              <p>
                <LayerName layer={layer} />
              </p>
              {entries.map(asEntry).map((hidden) => (
                <p key={hidden.effectiveFrom + (hidden.variant ?? '')} className={styles['muted']}>
                  from {hidden.effectiveFrom}:{' '}
                  {plainPrices(hidden)
                    .map(({ label, price: usd }) => `${label} ${showUsd(usd)}`)
                    .join(', ')}
                </p>
              ))}
            </div>
          ))}
        </Panel>
      )}
      {may(session, 'upstreams:read') && <LastDay model={entry.model} />}
      <p className={styles['layers']}>
        <Link to={paths.prices} search={{ tab: 'calculator', vendor: entry.vendor, model: entry.model }}>
          Calculate a call
        </Link>
        {may(session, 'prices:stage') && (
          <Link to={paths.prices} search={{ tab: 'drafts', new: name }}>
            Change it in a draft
          </Link>
        )}
        <Link to={paths.usage} search={{ r: '30d', by: 'user', upstream_model: entry.model }}>
          Who used it
        </Link>
      </p>
    </SidePanel>
  );
}

/** All single prices and conditions of an entry. */
function EntryFacts({ entry }: { readonly entry: PriceEntry }) {
  const conditions = conditionsOf(entry);
  return (
    <>
      <Facts
        rows={[
          ['Holds from', entry.effectiveFrom],
          ...(entry.effectiveUntil === undefined ? [] : ([['Until', entry.effectiveUntil]] as const)),
          ...(entry.aliases === undefined ? [] : ([['Other names', entry.aliases.join(', ')]] as const)),
          ...plainPrices(entry).map(
            ({ label, price }) =>
              [
                label,
                <span key={label} className="figures">
                  {showUsd(price)}
                </span>,
              ] as const,
          ),
        ]}
      />
      {conditions.length > 0 && (
        <ul className={styles['lines']} aria-label="Conditions">
          {conditions.map((text) => (
            <li key={text}>
              <code>{text}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** How much of the last day it concerns, if a gateway serves the model. */
function LastDay({ model }: { readonly model: string }) {
  const { data } = useQuery({ ...question('models.list', { query: { limit: 500 } }), staleTime: 60_000 });
  const serving = data?.items.filter(({ targets }) => targets.some((target) => target.model === model)).map(({ name }) => name) ?? [];
  if (serving.length === 0) return null;
  return <p className={styles['muted']}>Clients reach it as {serving.slice(0, 6).join(', ')}.</p>;
}
