/** Excel's limit for the text of one cell, in UTF-16 units. Excel reports a workbook with a longer text as damaged. */
const CELL_UNITS_MAX = 32_767;

/** Matches texts that need one of the replacements below. Most names need none. */
const UNUSUAL = /[^ -~]|[&<>]|_x/;
/** Text that looks like an escape: `_x0041_` would be shown as `A`. */
const ESCAPE_LOOKALIKE = /_(?=x[0-9A-Fa-f]{4}_)/g;
/**
 * Control characters that XML 1.0 forbids, and the carriage return, which an XML parser would change to a line feed.
 */
// oxlint-disable-next-line no-control-regex -- these characters are what this expression is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f]/g;
const NONCHARACTER = /[\ufffe\uffff]/g;
const MARKUP = /[&<>]/g;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Any string as character data of a cell. Control characters become the `_xHHHH_` of ECMA-376 (22.9.2.19), which
 * spreadsheet programs decode. Lone surrogates and noncharacters become U+FFFD. A text that is too long for a cell is
 * cut and ends with an ellipsis.
 */
export function encodeCellText(text: string): string {
  const whole = text.length > CELL_UNITS_MAX ? cut(text) : text;
  if (!UNUSUAL.test(whole)) return whole;
  return whole
    .toWellFormed()
    .replace(ESCAPE_LOOKALIKE, '_x005F_')
    .replace(CONTROL, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(NONCHARACTER, '\ufffd')
    .replace(MARKUP, (character) => entities[character] ?? '');
}

function cut(text: string): string {
  const end = CELL_UNITS_MAX - 1;
  const last = text.charCodeAt(end - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, splitsPair ? end - 1 : end)}…`;
}
