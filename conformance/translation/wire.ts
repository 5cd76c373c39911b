/** JSON of others, read and written by hand. The suite believes nothing that the gateway's own types say of it. */
export type Wire = any;
