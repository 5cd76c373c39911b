/** Whom proofs in this dialect's own fields belong to when nothing else is known. */
export const vendorOrigin = 'openai';
