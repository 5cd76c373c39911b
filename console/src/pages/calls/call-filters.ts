import type { FilterField } from '../../components/filter-bar.tsx';

/** What calls can be filtered by. */
export const callFilters: readonly FilterField[] = [
  { name: 'end', text: 'end', values: ['finished', 'client-left', 'cut', 'failed', 'lost'], repeats: true },
  { name: 'user', text: 'user', repeats: true },
  { name: 'key_id', text: 'key', repeats: true, placeholder: 'id of a key' },
  { name: 'model', text: 'model', repeats: true, placeholder: 'as the client named it' },
  { name: 'served_model', text: 'served model', repeats: true },
  { name: 'upstream', text: 'upstream', repeats: true },
  { name: 'interface', text: 'interface', repeats: true, placeholder: 'anthropic-messages' },
  { name: 'team', text: 'team', repeats: true },
  { name: 'tag', text: 'tag', repeats: true, placeholder: 'project=blue' },
  { name: 'error_code', text: 'error code', repeats: true },
  { name: 'status_class', text: 'HTTP class', values: ['2', '3', '4', '5'], repeats: true },
  {
    name: 'flag',
    text: 'has',
    values: ['stream', 'translated', 'estimated', 'video', 'adapted', 'emulated', 'dropped', 'unchecked', 'repeated'],
    repeats: true,
  },
  { name: 'amount_min_usd', text: 'amount at least, USD', placeholder: '0.01' },
  { name: 'amount_max_usd', text: 'amount at most, USD' },
  { name: 'tokens_min', text: 'tokens at least' },
  { name: 'tokens_max', text: 'tokens at most' },
  { name: 'duration_min_ms', text: 'duration at least, ms' },
  { name: 'duration_max_ms', text: 'duration at most, ms' },
  { name: 'first_byte_min_ms', text: 'first byte at least, ms' },
  { name: 'first_byte_max_ms', text: 'first byte at most, ms' },
];
