const charactersMax = 300;
/** Long words are keys, tokens, data or addresses with a query. No sentence of ours has one. */
const wordCharactersMax = 40;
const pathPartsMax = 12;

/**
 * The sentence of an error without the client's values: text in quotation marks, what follows "got", words of other
 * scripts, and words that are long or mix letters and digits as secrets do become `…`.
 * @param param the path of the field that the error names. Its unusual parts become `…` too
 */
export function toSafeSentence(message: string, param?: string): string {
  const named = param === undefined || param === '' ? message : message.replaceAll(param, toSafeField(param));
  // A quotation mark inside of a value could end the quotation early: everything from the first to the last one is cut.
  const cut = named
    .slice(0, 4 * charactersMax)
    .replace(/["“`][^]*["”`]|["“`][^]*$/u, '"…"')
    // The forms in which vendors repeat a wrong value.
    .replace(/(\bgot:? )[^]*$/, '$1…')
    .replace(/(\binvalid value[^:]*: )'[^]*'(?=\. Supported values)/i, "$1'…'")
    .replace(/(\binvalid value[^:]*: )'(?!…)[^]*'(?=\. |$)/i, "$1'…'")
    .replace(/(\bmodel: )[^]*(?= is )/, '$1…');
  const words = cut.split(/(\s+)/).map((word) => (isOrdinary(word) ? (word.startsWith('/') ? toSafePath(word) : word) : '…'));
  return words.join('').replaceAll(/\s+/g, ' ').slice(0, charactersMax);
}

/** The path of a request without its query and the client's values: ids and other unusual parts become `…`. */
export function toSafePath(url: string): string {
  const parts =
    url
      .slice(0, 4 * charactersMax)
      .split('?', 1)[0]
      ?.split('/') ?? [];
  const isPlain = (part: string): boolean => /^(?:[a-z][a-z_-]{0,23}|v\d{1,2}(?:beta)?)?$/i.test(part);
  return parts
    .slice(0, pathPartsMax)
    .map((part) => (isPlain(part) ? part : '…'))
    .join('/');
}

function isOrdinary(word: string): boolean {
  if (/^\s*$/.test(word)) return true;
  if (word.length > wordCharactersMax || !/^[\x21-\x7e…]+$/.test(word)) return false;
  return !/(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{16,}/i.test(word);
}

function toSafeField(path: string): string {
  return path
    .split('.')
    .map((part) => (/^[a-z][a-z_]{0,30}(?:\[\d{1,6}\])*$/i.test(part) || /^\d{1,6}$/.test(part) ? part : '…'))
    .join('.');
}
