/** The origin of proofs in this dialect's own fields if nothing else is known. */
export const vendorOrigin = 'gemini';
