import type { JsonSpan } from '../../platform/json/json-span.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import { listMembers } from '../../platform/json/locate-json.ts';

// Objects are put together from pieces of text: a value that goes through a parser may lose digits on its way.

/** A member of an object as it stands in a text; `key` is unescaped, `keyText` is not. */
export type TextMember = { readonly key: string; readonly keyText: string; readonly valueText: string };

/** The text between two places. */
export const textAt = (bytes: Buffer, { start, end }: JsonSpan): string => bytes.toString('utf8', start, end);

/** The members of an object in a text that `scanJson` has accepted, each as it was written. */
export function listTextMembers(json: string): TextMember[] {
  const bytes = Buffer.from(json);
  // White space may stand around the object.
  const start = bytes.indexOf(0x7b);
  if (start === -1) return [];
  return listMembers(bytes, { start, end: bytes.length }).map(({ key, keySpan, valueSpan }) => ({
    key,
    keyText: textAt(bytes, keySpan),
    valueText: textAt(bytes, valueSpan),
  }));
}

/** A member with a value of our own. */
export const textMember = (key: string, value: JsonValue): TextMember => ({
  key,
  keyText: JSON.stringify(key),
  valueText: JSON.stringify(value),
});

/** A member whose value is a JSON text. */
export const rawMember = (key: string, valueText: string): TextMember => ({ key, keyText: JSON.stringify(key), valueText });

/** Writes an object. No key may come twice. */
export const writeTextObject = (members: readonly TextMember[]): string =>
  `{${members.map(({ keyText, valueText }) => `${keyText}:${valueText}`).join(',')}}`;

/** The object with this member, in the place of one of the same name or behind all others; everything else stays as it is written. */
export function putTextMember(json: string, key: string, value: JsonValue): string {
  const members = listTextMembers(json);
  const added = textMember(key, value);
  if (!members.some((member) => member.key === key)) return writeTextObject([...members, added]);
  return writeTextObject(members.map((member) => (member.key === key ? added : member)));
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * The whole number that a decimal is exactly, as in `5`, `5.0` or `0.5e1`; undefined for all others and from 1000 on. A parser of floating point would
 * take `15.0000000000000001` for 15 where one that keeps all digits does not.
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
