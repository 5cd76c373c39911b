/** By this name a request says that it was read from this dialect. */
export const ownDialect = 'anthropic-messages';
