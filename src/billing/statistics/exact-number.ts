/**
 * A number as the exact text that JSON.stringify writes for it (`JSON.rawJSON`). A double would lose digits of large
 * amounts and write small ones with an exponent.
 */
export type ExactNumber = { readonly rawJSON: string };

// The compiler's library does not declare JSON.rawJSON yet; the pinned Node has it.
const jsonWithRaw = JSON as typeof JSON & { readonly rawJSON: (text: string) => ExactNumber };

/**
 * JSON.rawJSON parses its text, which is avoided for the million numbers of an answer: only numbers that JSON.stringify
 * writes are parsed.
 */
class LazyNumber implements ExactNumber {
  readonly rawJSON: string;

  constructor(text: string) {
    this.rawJSON = text;
  }

  toJSON(): ExactNumber {
    return jsonWithRaw.rawJSON(this.rawJSON);
  }
}

export function exactNumber(text: string): ExactNumber {
  return new LazyNumber(text);
}
