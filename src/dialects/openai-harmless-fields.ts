/** Fields of OpenAI's interfaces that mean nothing to another vendor: caching, record keeping, and how the stream is written. */
export const openaiHarmlessFields: readonly string[] = [
  'metadata',
  'store',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'safety_identifier',
  'stream_options',
  'client_metadata',
];
