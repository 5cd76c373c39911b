import { Link } from '@tanstack/react-router';

import { apiPath, encodeQuery } from '../../api/client.ts';
import { FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { SpanPicker } from '../../components/span-picker.tsx';
import { useAddress, useSpan } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Split } from '../../ui/split.tsx';
import { tabClass, Tabs } from '../../ui/tabs.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { callFilters } from './call-filters.ts';
import { CallHistogram } from './call-histogram.tsx';
import { CallPanel } from './call-panel.tsx';
import styles from './calls-page.module.css';
import { CallsTable } from './calls-table.tsx';
import { RefusalsTable } from './refusals-table.tsx';

/** Find a call, and explain every cent of it. */
export function CallsPage() {
  const [search, change] = useAddress();
  const isRefused = one(search, 'tab') === 'refused';
  const open = one(search, 'call');
  return (
    <Split panel={open !== undefined && !isRefused && <CallPanel id={open} onClose={() => change({ call: undefined })} />}>
      <PageHead title="Calls">
        <SpanPicker fallback="24h" />
        {!isRefused && <LiveAndExport />}
      </PageHead>
      <Tabs label="Calls">
        <Link
          to={paths.calls}
          search={{ ...search, tab: undefined }}
          className={tabClass}
          activeOptions={{ explicitUndefined: true }}
          aria-current={isRefused ? undefined : 'page'}
        >
          Calls
        </Link>
        <Link
          to={paths.calls}
          search={{ ...search, tab: 'refused', call: undefined }}
          className={tabClass}
          aria-current={isRefused ? 'page' : undefined}
        >
          Refused before an upstream
        </Link>
      </Tabs>
      {isRefused ? <RefusalsTable /> : <Calls />}
    </Split>
  );
}

function Calls() {
  const [search, change] = useAddress();
  const { from, to, isOpen } = useSpan('24h');
  const filters = readFilters(callFilters, search);
  const isLive = one(search, 'live') === '1';
  return (
    <>
      <FilterBar fields={callFilters} />
      <CallHistogram query={{ ...filters, from, to }} />
      <CallsTable
        query={{ ...filters, from, to }}
        isLive={isLive && isOpen}
        open={one(search, 'call')}
        onOpen={({ id }) => change({ call: id }, one(search, 'call') !== undefined)}
      />
    </>
  );
}

function LiveAndExport() {
  const [search, change] = useAddress();
  const { from, to, isOpen } = useSpan('24h');
  const isLive = one(search, 'live') === '1';
  const save = (format: 'csv' | 'jsonl' | 'xlsx'): void => {
    const query = encodeQuery({ ...readFilters(callFilters, search), from, to, format });
    location.assign(`${apiPath}/calls/export?${query}`);
  };
  useKeys({ e: () => save('csv') });
  return (
    <>
      <Button
        icon="live"
        pressed={isLive}
        disabledBecause={isOpen ? undefined : 'New calls are not in a span that is over.'}
        onClick={() => change({ live: isLive ? undefined : '1' })}
      >
        Live
      </Button>
      <Menu
        trigger={
          <button type="button" className={styles['export']} aria-label="Export these calls">
            Export
          </button>
        }
        entries={[
          { text: 'CSV', icon: 'download', onSelect: () => save('csv') },
          { text: 'Workbook (XLSX)', icon: 'download', onSelect: () => save('xlsx') },
          { text: 'JSON Lines', icon: 'download', onSelect: () => save('jsonl') },
        ]}
      />
    </>
  );
}
