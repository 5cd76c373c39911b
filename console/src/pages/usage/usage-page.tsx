import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { isLost, question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { SpanPicker } from '../../components/span-picker.tsx';
import { useKept } from '../../components/use-kept.ts';
import { useAddress, useSpan, useZone } from '../../components/use-page.ts';
import { showMinute, showOffset } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { InlineSelect, TextField } from '../../ui/field.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { ExportMenu } from './export-menu.tsx';
import { SavedViews } from '../../components/saved-views.tsx';
import { NoUsage } from './no-usage.tsx';
import { UsageChart } from './usage-chart.tsx';
import styles from './usage-page.module.css';
import {
  granularities,
  groupings,
  metrics,
  readGranularity,
  readGroups,
  readMetric,
  readQuestion,
  readTop,
  tops,
  readView,
  usageFilterFields,
} from './usage-question.ts';
import { UsageTable } from './usage-table.tsx';
import { showCount } from '../../format/numbers.ts';

/** Who used what, when, at what cost. */
export function UsagePage() {
  const [search] = useAddress();
  const zone = useZone();
  const span = useSpan('30d');
  const body = readQuestion(search, span, zone);
  const usage = useQuery({ ...question('usage.query', { body }), placeholderData: keepPreviousData });
  const { error, refetch, isPlaceholderData } = usage;
  const data = useKept(JSON.stringify(search), usage.data, error);
  return (
    <>
      <PageHead title="Usage">
        <SpanPicker fallback="30d" />
        <SavedViews page="usage" />
        <ExportMenu question={body} />
      </PageHead>
      <Controls />
      <FilterBar fields={usageFilterFields} />
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton rows={14} />}
      {data !== undefined && !isLost(error, data) && (
        <div className={styles['answer']} aria-busy={isPlaceholderData}>
          <p className={styles['span']}>
            {showMinute(data.from, zone)} to {showMinute(data.to, zone)}, {zone} ({showOffset(data.from, zone)}), per {data.granularity}
          </p>
          {data.totals.total.calls === 0 ? (
            <NoUsage from={data.from} />
          ) : (
            <>
              <UsageChart answer={data} groups={readGroups(search)} metric={readMetric(search)} zone={zone} />
              <UsageTable answer={data} groups={readGroups(search)} metric={readMetric(search)} />
            </>
          )}
          {'pending_calls' in data && Number(data.pending_calls) > 0 && (
            <Notice tone="info">
              {data.pending_calls === 1 ? '1 call is' : `${showCount(data.pending_calls)} calls are`} not counted yet.
            </Notice>
          )}
        </div>
      )}
    </>
  );
}

/** Names of tags are the callers' own, so that no list has them. */
const anyTag = { value: 'a tag', text: 'a tag …' };

/** Asks by which tag the usage is grouped. */
function TagName({ onChoose }: { readonly onChoose: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onChoose(name.trim());
      }}
    >
      <TextField label="Name of the tag" placeholder="project" value={name} required autoFocus onChange={setName} />
      <Button type="submit">Group by it</Button>
    </form>
  );
}

function Controls() {
  const [search, change] = useAddress();
  const [by = 'model', second] = readGroups(search);
  const named = (name: string) => ({ value: name, text: name.replaceAll('_', ' ') });
  const tags = [by, second].filter((name) => name?.startsWith('tag:') === true) as string[];
  const groups = [...groupings, ...tags];
  const [asked, setAsked] = useState<'by' | 'and'>();
  const group = (place: 'by' | 'and') => (value: string) => {
    setAsked(value === anyTag.value ? place : undefined);
    if (value !== anyTag.value) change({ [place]: value === '' ? undefined : value });
  };
  return (
    <div className={styles['controls']}>
      <InlineSelect
        label="Measure"
        value={readMetric(search)}
        options={Object.entries(metrics).map(([value, { text }]) => ({ value, text }))}
        onChange={(metric) => change({ metric })}
      />
      <span>by</span>
      <InlineSelect
        label="Group by"
        value={asked === 'by' ? anyTag.value : by}
        options={[...groups.map(named), anyTag]}
        onChange={group('by')}
      />
      <span>and</span>
      <InlineSelect
        label="And by"
        value={asked === 'and' ? anyTag.value : (second ?? '')}
        options={[{ value: '', text: '—' }, ...groups.filter((name) => name !== by).map(named), anyTag]}
        onChange={group('and')}
      />
      {asked !== undefined && <TagName onChoose={(name) => group(asked)(`tag:${name}`)} />}
      <span>per</span>
      <InlineSelect label="Per" value={readGranularity(search)} options={granularities.map(named)} onChange={(per) => change({ per })} />
      <InlineSelect
        label="Top"
        value={readTop(search)}
        options={tops.map((value) => ({ value, text: `top ${value}` }))}
        onChange={(top) => change({ top })}
      />
      <InlineSelect
        label="Chart"
        value={readView(search)}
        options={[
          { value: 'sums', text: 'each bar alone' },
          { value: 'cumulative', text: 'cumulative' },
          { value: 'share', text: 'as shares' },
        ]}
        onChange={(view) => change({ view: view === 'sums' ? undefined : view })}
      />
      <InlineSelect
        label="Compare"
        value={one(search, 'compare') ?? ''}
        options={[
          { value: '', text: 'no comparison' },
          { value: 'previous', text: 'with the time before' },
          { value: 'year', text: 'with the year before' },
        ]}
        onChange={(compare) => change({ compare: compare === '' ? undefined : compare })}
      />
    </div>
  );
}
