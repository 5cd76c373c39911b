/** The bytes `[start, end)` of a JSON text: a value without the white space around it, a string with its quotes. */
export type JsonSpan = { readonly start: number; readonly end: number };
