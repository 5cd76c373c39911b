/** JSON from outside, read and written by hand. The suite does not rely on the gateway's own types for it. */
export type Wire = any;
