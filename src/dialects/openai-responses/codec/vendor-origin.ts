/** The owner of proofs in this dialect's own fields, unless another is known. */
export const vendorOrigin = 'openai';
