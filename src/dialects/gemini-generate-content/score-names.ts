/** How likely a search could help, as the vendor calls it. */
export const vendorScoreName = 'googleSearchDynamicRetrievalScore';

/** The same as the contract calls it (contract C, 2.2). Replies carry both. */
export const contractScoreName = 'vendorSearchDynamicRetrievalScore';
