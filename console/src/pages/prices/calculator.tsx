import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useMinute } from '../../components/use-page.ts';
import { Skeleton } from '../../ui/notice.tsx';
import { ChargeTable } from './charge-table.tsx';
import { dayToday } from './price-list.tsx';
import { QuoteForm, type QuoteDraft, readQuote } from './quote-form.tsx';
import styles from './prices-page.module.css';

/** What a call costs by the prices in force: with the code that charges. */
export function Calculator() {
  const [search] = useAddress();
  const today = dayToday(useMinute());
  const [draft, setDraft] = useState<QuoteDraft>({
    vendor: one(search, 'vendor') ?? '',
    model: one(search, 'model') ?? '',
    day: today,
    counts: { input_tokens: '1000', output_tokens: '500' },
    tier: '',
  });
  const body = readQuote(draft);
  const { data, error, isFetching } = useQuery({
    ...question('prices.quote', { body: body ?? ({} as Body<'prices.quote'>) }),
    enabled: body !== undefined,
    placeholderData: (before) => before,
    retry: false,
  });
  return (
    <div className={styles['pair']}>
      <QuoteForm draft={draft} onChange={setDraft} />
      <div className={styles['form']} aria-busy={isFetching}>
        {body === undefined && <p className={styles['muted']}>Choose a model, and give counts as whole numbers.</p>}
        {error !== null && <Failure error={error} />}
        {body !== undefined && data === undefined && error === null && <Skeleton rows={5} />}
        {body !== undefined && data !== undefined && error === null && <ChargeTable title={`${body.vendor}/${body.model}`} charge={data} />}
        {body !== undefined && (
          <Equivalent
            command={`weir prices list --vendor ${body.vendor} --model ${body.model} --at ${draft.day}`}
            curl={curlOf(location.origin, 'prices.quote', { body })}
          />
        )}
      </div>
    </div>
  );
}
