import { isWordAt, type Span } from './span.ts';

/** A run of digits, and what is before it: the beginning of the region, or a separator. */
type Group = { readonly start: number; readonly end: number; readonly digits: string };

/** ISO/IEC 7812: card numbers have up to 19 digits. */
const cardDigits = { min: 13, max: 19 };
/** E.164: telephone numbers have up to 15 digits. */
const phoneDigits = { min: 7, max: 15 };
/** Numbers without a sign of a telephone number need more digits, in at least three groups. */
const plainPhoneDigitsMin = 9;
/** The most groups of a telephone number. */
const phoneGroupsMax = 8;

const digitRun = /\d+/g;
/** Characters between the groups of a number. */
const separator = /^[ \t\u00a0\u202f.\-/()\u2010-\u2015]{1,3}$/u;
const dateLike = /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:\D|$)/;

/** Finds card numbers and telephone numbers. Linear: each group is compared with a bounded number of those after it. */
export function findNumbers(text: string): readonly Span[] {
  const spans: Span[] = [];
  let region: Group[] = [];
  const close = (): void => {
    if (region.length > 0) readRegion(text, region, spans);
    region = [];
  };
  for (const { index, 0: digits } of text.matchAll(digitRun)) {
    const last = region.at(-1);
    if (last !== undefined && !(index - last.end <= 3 && separator.test(text.slice(last.end, index)))) close();
    region.push({ start: index, end: index + digits.length, digits });
  }
  close();
  return spans;
}

/** A region is a list of groups with nothing but separators between them. */
function readRegion(text: string, region: readonly Group[], spans: Span[]): void {
  let at = 0;
  // Groups since the last finding that begin no number with a sign.
  let plain = 0;
  const readPlain = (to: number): void => {
    readPlainPhone(text, region.slice(plain, to), spans);
  };
  while (at < region.length) {
    const found = cardAt(region, at) ?? signedPhoneAt(text, region, at);
    if (found === undefined) {
      at += 1;
      continue;
    }
    readPlain(at);
    const first = region[at];
    const last = region[at + found.groups - 1];
    if (first !== undefined && last !== undefined) spans.push({ start: openingOf(text, first.start), end: last.end, kind: found.kind });
    at += found.groups;
    plain = at;
  }
  readPlain(region.length);
}

/** The place of a plus sign or an opening bracket before a number, or that of its first digit. */
function openingOf(text: string, start: number): number {
  let opening = start;
  if (text.charAt(opening - 1) === '(') opening -= 1;
  if (text.charAt(opening - 1) === '+') opening -= 1;
  return opening;
}

type Found = { readonly groups: number; readonly kind: string };

/** A card number that begins with this group: the sum of its digits by Luhn is divisible by 10. */
function cardAt(region: readonly Group[], at: number): Found | undefined {
  let digits = '';
  let found: Found | undefined;
  for (let groups = 1; at + groups <= region.length; groups += 1) {
    digits += region[at + groups - 1]?.digits ?? '';
    if (digits.length > cardDigits.max) break;
    if (digits.length >= cardDigits.min && hasLuhnSum(digits) && /[1-9]/.test(digits)) found = { groups, kind: 'card' };
  }
  return found;
}

function hasLuhnSum(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const doubled = digit * 2;
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** A telephone number with a plus sign, or with a zero at its beginning. */
function signedPhoneAt(text: string, region: readonly Group[], at: number): Found | undefined {
  const first = region[at];
  if (first === undefined) return undefined;
  const hasPlus = hasPlusBefore(text, first);
  const hasZero = first.digits.startsWith('0') && !isWordAt(text, first.start - 1) && !/^0+$/.test(first.digits.slice(0, 3));
  const hasZeros = /^00[1-9]/.test(first.digits) && !isWordAt(text, first.start - 1);
  if (!hasPlus && !hasZero && !hasZeros) return undefined;
  let digits = 0;
  let found: Found | undefined;
  for (let groups = 1; groups <= phoneGroupsMax && at + groups <= region.length; groups += 1) {
    const group = region[at + groups - 1];
    if (group === undefined || (groups > 1 && hasPlusBefore(text, group))) break;
    digits += group.digits.length;
    if (digits > phoneDigits.max + (hasZeros ? 2 : 0)) break;
    if (digits >= (hasPlus ? phoneDigits.min : plainPhoneDigitsMin)) found = { groups, kind: 'phone' };
  }
  // A single group that only begins with a zero is rather an identifier, unless it is as long as a telephone number.
  return found;
}

function hasPlusBefore(text: string, { start }: Group): boolean {
  return text.charAt(start - 1) === '+' || (text.charAt(start - 1) === '(' && text.charAt(start - 2) === '+');
}

/** Groups such as 555-010-4477 or (212) 555-0104, unless they are a date or a longer number. */
function readPlainPhone(text: string, groups: readonly Group[], spans: Span[]): void {
  const [first] = groups;
  const last = groups.at(-1);
  if (first === undefined || last === undefined || groups.length < 3 || groups.length > phoneGroupsMax) return;
  const digits = groups.reduce((sum, group) => sum + group.digits.length, 0);
  if (digits < plainPhoneDigitsMin || digits > phoneDigits.max) return;
  if (isWordAt(text, first.start - 1) || isWordAt(text, last.end)) return;
  if (dateLike.test(text.slice(first.start, last.end))) return;
  spans.push({ start: openingOf(text, first.start), end: last.end, kind: 'phone' });
}
