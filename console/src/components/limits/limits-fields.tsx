import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { showCount } from '../../format/numbers.ts';
import { TextField } from '../../ui/field.tsx';
import { useSession, useZone } from '../use-page.ts';
import { isAllowed, type LimitName, type LimitsDraft, readList } from './limits-draft.ts';
import styles from './limits.module.css';

type Field = {
  readonly name: LimitName;
  readonly label: string;
  readonly help?: string;
  readonly inputMode?: 'decimal' | 'numeric';
};

const money: readonly Field[] = [
  { name: 'spend_per_day_usd', label: 'Spend a day (USD)', inputMode: 'decimal' },
  { name: 'spend_per_month_usd', label: 'Spend a month (USD)', inputMode: 'decimal' },
  { name: 'spend_total_usd', label: 'Spend in all (USD)', inputMode: 'decimal' },
];
const rates: readonly Field[] = [
  { name: 'requests_per_minute', label: 'Requests a minute', inputMode: 'numeric' },
  { name: 'tokens_per_minute', label: 'Tokens a minute', inputMode: 'numeric' },
  { name: 'concurrency', label: 'Calls at a time', inputMode: 'numeric' },
];
const lists: readonly Field[] = [
  { name: 'models', label: 'Models' },
  { name: 'upstreams', label: 'Upstreams', help: 'Names with commas; name* for all that begin so.' },
  { name: 'addresses', label: 'Addresses', help: 'Networks from which calls may come, such as 10.0.0.0/8.' },
];
const files: readonly Field[] = [
  { name: 'media_retention_days', label: 'Days for which videos are kept', inputMode: 'numeric' },
  { name: 'media_bytes_max', label: 'Bytes of all videos', inputMode: 'numeric' },
];

type Props = {
  readonly draft: LimitsDraft;
  readonly onChange: (draft: LimitsDraft) => void;
  /** The server's sentences, by the path of the field. */
  readonly errors: Readonly<Record<string, string>>;
};

/** The fields of all limits. Empty: no limit. */
export function LimitsFields({ draft, onChange, errors }: Props) {
  const zone = useZone();
  const modelsHelp = useModelsHelp(draft.models);
  const field = ({ name, label, help, inputMode }: Field) => (
    <TextField
      key={name}
      label={label}
      value={draft[name]}
      error={errors[`limits.${name}`]}
      placeholder="no limit"
      {...(inputMode !== undefined && { inputMode })}
      {...(help !== undefined && { help })}
      onChange={(value) => onChange({ ...draft, [name]: value })}
    />
  );
  return (
    <>
      <p className={styles['hint']}>
        An empty field is no limit of this level: levels above may still have one. Days and months of spending are those of UTC.
      </p>
      <fieldset className={styles['three']}>
        <legend className="visually-hidden">Spending</legend>
        {money.map(field)}
      </fieldset>
      <fieldset className={styles['three']}>
        <legend className="visually-hidden">Rates</legend>
        {rates.map(field)}
      </fieldset>
      {lists.map((each) => field(each.name === 'models' ? { ...each, help: modelsHelp } : each))}
      <fieldset className={styles['three']}>
        <legend className="visually-hidden">Files and end</legend>
        {files.map(field)}
        <TextField
          label={`Expires (${zone})`}
          type="datetime-local"
          value={draft.expires_at}
          error={errors['limits.expires_at']}
          onChange={(value) => onChange({ ...draft, expires_at: value })}
        />
      </fieldset>
    </>
  );
}

const modelsMax = 500;

/** How many of the configured models a list of names allows. */
export function useModelsHelp(text: string): string {
  const mayRead = may(useSession(), 'upstreams:read');
  const { data } = useQuery({ ...question('models.list', { query: { limit: modelsMax } }), enabled: mayRead, staleTime: 60_000 });
  const rule = 'Names with commas; name* for all that begin so.';
  if (data === undefined) return rule;
  const names = data.items.map(({ name }) => name);
  const patterns = readList(text);
  const allowed = patterns.length === 0 ? names.length : names.filter((name) => isAllowed(patterns, name)).length;
  const more = data.next_cursor === null ? '' : 'the first ';
  return `${rule} May call ${showCount(allowed)} of ${more}${showCount(names.length)}.`;
}
