/** Whose proofs this dialect's own fields hold when nothing else is known. */
export const vendorOrigin = 'openai';
