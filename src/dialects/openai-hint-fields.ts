/** Fields of OpenAI's interfaces that steer caching, record keeping and how the stream is written, and not what the model answers. */
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
