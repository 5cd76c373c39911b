export type SqlValue = null | string | number | bigint;

/** A parameter of a statement. Bytes must have a buffer of their own. */
export type SqlParameter = SqlValue | Uint8Array;

/** Integers are bigint, so that none is ever rounded; floats are number; bytes are Uint8Array. */
export type SqlRow = Readonly<Record<string, SqlParameter>>;

export type ValueRow = readonly SqlParameter[];
