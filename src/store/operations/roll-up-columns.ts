/** The columns that roll-ups add up, in the order of the amounts of an increment. */
export const sumColumns = [
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
  'call_count',
  'amount_nano_usd',
] as const;
