/** The dialect name of requests that were read from this dialect. */
export const ownDialect = 'openai-responses';
