/** The encoded form of a text of one column. */
export type CellText = (value: string) => string;

/** The most texts of one column that are cached, and their greatest length. */
const rememberedMax = 1000;
const charactersMax = 200;

/**
 * Caches the encoded texts of a column: names repeat from record to record, and all records of a bucket have the same
 * time.
 */
export function rememberTexts(encode: CellText): CellText {
  const remembered = new Map<string, string>();
  let lastValue: string | undefined;
  let lastText = '';
  return (value) => {
    if (value === lastValue) return lastText;
    if (value.length > charactersMax) return encode(value);
    let text = remembered.get(value);
    if (text === undefined) {
      if (remembered.size >= rememberedMax) remembered.clear();
      text = encode(value);
      remembered.set(value, text);
    }
    lastValue = value;
    lastText = text;
    return text;
  };
}
