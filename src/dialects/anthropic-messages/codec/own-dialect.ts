/** The name of this dialect in requests that were read from it. */
export const ownDialect = 'anthropic-messages';
