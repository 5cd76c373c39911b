import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Amount } from '../../components/amount.tsx';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { usePathPart } from '../../components/use-page.ts';
import { countOf, showCount } from '../../format/numbers.ts';
import { callsOfModel, paths } from '../../paths.ts';
import { Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ExplainPanel } from './explain-panel.tsx';
import { interfaceTitles, showLimits, showPart, showPrices, tiersOf, ways } from './model-words.ts';
import styles from './models-page.module.css';
import { TestPanel } from './test-panel.tsx';

type Shown = Reply<'models.get'>;

const balances: Readonly<Record<string, string>> = {
  conversation: 'each conversation stays at one of them',
  'least-loaded': 'the least loaded first',
  random: 'each call by itself',
};

/** One model: where its calls go, why, and whether they would succeed. */
export function ModelPage() {
  const name = usePathPart('name');
  const model = useQuery(question('models.get', { params: { name } }));
  const { data } = model;
  return (
    <>
      <PageHead title={name}>
        <Link to={paths.models}>All models</Link>
      </PageHead>
      <div className={styles['stack']}>
        {model.isError && <Failure error={model.error} onRetry={() => void model.refetch()} />}
        {data === undefined && !model.isError && <Skeleton rows={8} />}
        {data !== undefined && <Facts model={data} />}
        {data !== undefined && <Tree model={data} />}
        <ExplainPanel name={name} />
        {data !== undefined && <TestPanel name={name} />}
      </div>
    </>
  );
}

function Facts({ model }: { readonly model: Shown }) {
  const { kinds, limits, last_day: day, other_names: others, is_named: isNamed, is_from_layer: isFromLayer } = model;
  const calls = callsOfModel(model.name);
  return (
    <dl className={styles['facts']}>
      <dt>Makes</dt>
      <dd>{kinds.length === 0 ? 'unknown' : kinds.join(', ')}</dd>
      <dt>Interfaces</dt>
      <dd>
        <ul>
          {model.interfaces.map(({ interface: spoken, way }) => (
            <li key={spoken}>{`${ways[way].sign} ${interfaceTitles[spoken] ?? spoken}: ${ways[way].word}`}</li>
          ))}
        </ul>
      </dd>
      <dt>Limits of all its callers</dt>
      <dd>{showLimits(limits)}</dd>
      <dt>Last 24 hours</dt>
      <dd>
        <Link to={calls.to} search={calls.search}>
          {countOf(day.calls, 'call')}
        </Link>
        , <Amount money={day.amount} />, {showCount(day.failed)} failed
      </dd>
      <dt>From</dt>
      <dd>{isFromLayer ? 'a published layer' : isNamed ? 'the configuration file' : 'a price book, or the list of an upstream'}</dd>
      <dt>Other names that lead there</dt>
      <dd>
        {others.length === 0
          ? 'none'
          : others.map((other, index) => (
              <span key={other}>
                {index > 0 && ', '}
                <Link to={paths.model(other)}>{other}</Link>
              </span>
            ))}
      </dd>
    </dl>
  );
}

function Tree({ model }: { readonly model: Shown }) {
  const tiers = tiersOf(model);
  return (
    <Panel title="Targets">
      <ol className={styles['tree']}>
        {tiers.map((tier, index) => (
          <li key={tier.map(({ id }) => id).join(' ')}>
            {index === 0 ? 'First' : 'Then'}
            {tier.length > 1 && `, ${balances[model.balance] ?? model.balance}`}
            <ul className={styles['tree']}>
              {tier.map(({ id, upstream, share, only, prices }) => (
                <li key={`${id} ${only ?? ''}`}>
                  <Link to={paths.upstream(upstream)}>{id}</Link> {tier.length > 1 && showPart(share)}
                  {only !== null && ` · only calls ${only}`}
                  {showPrices(prices) !== '' && ` · ${showPrices(prices)} for 1 M tokens`}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
