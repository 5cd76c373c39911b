/**
 * Fields of OpenAI's interfaces that affect caching, record keeping and the form of the stream, but not the model's
 * answer.
 */
export const openaiHintFields: readonly string[] = [
  'metadata',
  'store',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'safety_identifier',
  'stream_options',
  'client_metadata',
];
