export type SqlValue = null | string | number | bigint;

/** What a statement takes: bytes have to be memory of their own. */
export type SqlParameter = SqlValue | Uint8Array;

/** Integers come as bigint, so that none is ever rounded; floats as number; bytes as Uint8Array. */
export type SqlRow = Readonly<Record<string, SqlParameter>>;

export type ValueRow = readonly SqlParameter[];
