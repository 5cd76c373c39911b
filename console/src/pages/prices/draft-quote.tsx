import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { useMinute } from '../../components/use-page.ts';
import { exactMoney, nanosOf, showChange } from '../../format/money.ts';
import { ChargeTable } from './charge-table.tsx';
import type { DraftProps } from './draft-props.ts';
import { dayToday } from './price-list.tsx';
import { asBook } from './price-words.ts';
import { QuoteForm, type QuoteDraft, readQuote } from './quote-form.tsx';
import styles from './prices-page.module.css';

/** What one call costs now, and by the draft. */
export function DraftQuote({ draft }: DraftProps) {
  const [first] = asBook(draft.book).entries;
  const today = dayToday(useMinute());
  const [given, setGiven] = useState<QuoteDraft>({
    vendor: first?.vendor ?? '',
    model: first?.model ?? '',
    day: today,
    counts: { input_tokens: '1000', output_tokens: '500' },
    tier: '',
  });
  const body = readQuote(given);
  const input = { params: { id: draft.id }, body: body ?? ({} as Body<'price_drafts.quote'>) };
  const { data, error } = useQuery({
    ...question('price_drafts.quote', input),
    enabled: body !== undefined,
    placeholderData: (before) => before,
    retry: false,
  });
  const change = data === undefined ? undefined : showChange(nanosOf(data.draft.amount), nanosOf(data.in_force.amount));
  return (
    <div className={styles['pair']}>
      <QuoteForm draft={given} onChange={setGiven} />
      <div className={styles['form']}>
        {error !== null && <Failure error={error} />}
        {data !== undefined && error === null && (
          <>
            <ChargeTable title="In force" charge={data.in_force} />
            <ChargeTable title={`By the draft, if it holds on ${given.day || today}`} charge={data.draft} />
            <p role="status">
              Difference {exactMoney(nanosOf(data.draft.amount) - nanosOf(data.in_force.amount))}
              {change !== undefined && ` (${change})`}
            </p>
          </>
        )}
        <Equivalent command="weir prices stage prices.json" curl={curlOf(location.origin, 'price_drafts.quote', input)} />
      </div>
    </div>
  );
}
