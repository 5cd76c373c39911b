import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';

import type { Body } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { InlineSelect, TextField } from '../../ui/field.tsx';
import styles from './quote-form.module.css';

export type QuoteDraft = {
  readonly vendor: string;
  readonly model: string;
  readonly day: string;
  /** Counts as they are typed, by the names of receipts. */
  readonly counts: Readonly<Record<string, string>>;
  readonly tier: string;
};

/** The counts that a form offers at once; the others are in a list. */
const offered = ['input_tokens', 'cache_read_tokens', 'output_tokens'];
const further = [
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'input_audio_tokens',
  'output_audio_tokens',
  'web_searches',
];

/** The question of a form; undefined while it is incomplete. */
export function readQuote({ vendor, model, day, counts, tier }: QuoteDraft): Body<'prices.quote'> | undefined {
  const given = Object.entries(counts).filter(([, text]) => text !== '');
  if (vendor === '' || model === '' || given.length === 0 || given.some(([, text]) => !/^\d{1,9}$/.test(text))) return undefined;
  return {
    vendor,
    model,
    ...(day !== '' && { day }),
    usage: Object.fromEntries(given.map(([name, text]) => [name, Number(text)])),
    ...(tier !== '' && { service_tier: tier }),
  };
}

type Props = { readonly draft: QuoteDraft; readonly onChange: (draft: QuoteDraft) => void };

/** The counts of one call, and its model. */
export function QuoteForm({ draft, onChange }: Props) {
  const id = useId();
  const { data } = useQuery({ ...question('prices.list', { query: { at: draft.day || 'all', limit: 500 } }), staleTime: 60_000 });
  const models = [...new Set(data?.items.map(({ vendor, model }) => `${vendor}/${model}`))];
  const whole = draft.vendor === '' ? draft.model : `${draft.vendor}/${draft.model}`;
  const set = (part: Partial<QuoteDraft>): void => onChange({ ...draft, ...part });
  const count = (name: string) => (
    <TextField
      key={name}
      label={name.replaceAll('_', ' ')}
      inputMode="numeric"
      value={draft.counts[name] ?? ''}
      error={/^\d{0,9}$/.test(draft.counts[name] ?? '') ? undefined : 'A whole number below a billion.'}
      onChange={(text) => set({ counts: { ...draft.counts, [name]: text } })}
    />
  );
  const added = Object.keys(draft.counts).filter((name) => further.includes(name));
  return (
    <div className={styles['form']} role="group" aria-labelledby={id}>
      <h2 id={id}>One call</h2>
      <TextField
        label="Model"
        help="The vendor and the name at the vendor: openai/gpt-5-mini."
        value={whole}
        list={models}
        onChange={(text) => {
          const at = text.indexOf('/');
          set(at === -1 ? { vendor: '', model: text } : { vendor: text.slice(0, at), model: text.slice(at + 1) });
        }}
      />
      <TextField label="Day (UTC)" type="date" value={draft.day} onChange={(day) => set({ day })} />
      <div className={styles['counts']}>{[...offered, ...added].map(count)}</div>
      <div className={styles['counts']}>
        <InlineSelect
          label="A further count"
          value=""
          options={[
            { value: '', text: 'further count …' },
            ...further.filter((name) => !added.includes(name)).map((name) => ({ value: name, text: name.replaceAll('_', ' ') })),
          ]}
          onChange={(name) => name !== '' && set({ counts: { ...draft.counts, [name]: '' } })}
        />
      </div>
      <TextField label="Service tier of the reply" value={draft.tier} placeholder="none" onChange={(tier) => set({ tier })} />
    </div>
  );
}
