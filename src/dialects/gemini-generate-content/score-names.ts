/** The vendor's name of the probability that a search helps. */
export const vendorScoreName = 'googleSearchDynamicRetrievalScore';

/** The contract's name of it (contract C, 2.2). Replies contain both. */
export const contractScoreName = 'vendorSearchDynamicRetrievalScore';
