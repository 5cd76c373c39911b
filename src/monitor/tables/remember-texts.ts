/** What is written for a text of one column. */
export type CellText = (value: string) => string;

/** Texts of one column that are remembered, and how long they may be. */
const rememberedMax = 1000;
const charactersMax = 200;

/** Remembers what was written for the texts of a column: names repeat from record to record, and the time of a bucket stands in all of its records. */
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
