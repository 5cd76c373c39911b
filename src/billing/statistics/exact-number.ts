/**
 * A number as the exact text that JSON.stringify writes for it (`JSON.rawJSON`). A double would lose digits of large amounts and print
 * small ones with an exponent.
 */
export type ExactNumber = { readonly rawJSON: string };

// The compiler's library does not know JSON.rawJSON yet; the pinned Node has it.
const jsonWithRaw = JSON as typeof JSON & { readonly rawJSON: (text: string) => ExactNumber };

export function exactNumber(text: string): ExactNumber {
  return jsonWithRaw.rawJSON(text);
}
