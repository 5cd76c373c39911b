import type { JsonSpan } from '../../platform/json/json-span.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import { listMembers } from '../../platform/json/locate-json.ts';

// Objects are joined from pieces of text, because a parser may lose digits of a value.

/** A member of an object as it was written; `key` is unescaped, `keyText` is not. */
export type TextMember = { readonly key: string; readonly keyText: string; readonly valueText: string };

/** Returns the text of a span. */
export const textAt = (bytes: Buffer, { start, end }: JsonSpan): string => bytes.toString('utf8', start, end);

/** Lists the members of an object in a text that `scanJson` has accepted, as they were written. */
export function listTextMembers(json: string): TextMember[] {
  const bytes = Buffer.from(json);
  // White space may surround the object.
  const start = bytes.indexOf(0x7b);
  if (start === -1) return [];
  return listMembers(bytes, { start, end: bytes.length }).map(({ key, keySpan, valueSpan }) => ({
    key,
    keyText: textAt(bytes, keySpan),
    valueText: textAt(bytes, valueSpan),
  }));
}

/** Writes a member with a value of the gateway. */
export const textMember = (key: string, value: JsonValue): TextMember => ({
  key,
  keyText: JSON.stringify(key),
  valueText: JSON.stringify(value),
});

/** Writes a member whose value is a JSON text. */
export const rawMember = (key: string, valueText: string): TextMember => ({ key, keyText: JSON.stringify(key), valueText });

/** Writes an object. Keys must be unique. */
export const writeTextObject = (members: readonly TextMember[]): string =>
  `{${members.map(({ keyText, valueText }) => `${keyText}:${valueText}`).join(',')}}`;

/** Replaces the member with this name, or appends it. Everything else stays as it was written. */
export function putTextMember(json: string, key: string, value: JsonValue): string {
  const members = listTextMembers(json);
  const added = textMember(key, value);
  if (!members.some((member) => member.key === key)) return writeTextObject([...members, added]);
  return writeTextObject(members.map((member) => (member.key === key ? added : member)));
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Reads a decimal that is exactly a whole number, such as `5`, `5.0` or `0.5e1`. Undefined for all others, and from
 * 1000 on. A floating point parser would read `15.0000000000000001` as 15, and a lossless parser would not.
 */
export function exactCount(text: string): number | undefined {
  const [match, sign = '', whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? [];
  if (match === undefined) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return 0;
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length;
  if (sign === '-' || zeros < 0 || significant.length + zeros > 3) return undefined;
  return Number(significant) * 10 ** zeros;
}
