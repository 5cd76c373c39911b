/** A number by its digits: sign, digits without leading zeros, and the exponent of ten of the last digit. */
type ExactNumber = { readonly exact: string };
export type ParsedValue = string | boolean | null | number | ExactNumber | readonly ParsedValue[] | ReadonlyMap<string, ParsedValue>;

/** One way in which servers read JSON. */
export type ParserVariant = {
  readonly name: string;
  /** Which of two members with the same name applies. */
  readonly wins: 'first' | 'last';
  readonly numbers: 'float64' | 'exact';
  /** Normalises names: names with the same result are the same. */
  readonly fold: (key: string) => string;
};

const same = (key: string): string => key;
const goFold = (key: string): string => key.toUpperCase().toLowerCase();
const protobufFold = (key: string): string => key.replaceAll(/_[a-z]/g, (pair) => pair.slice(1).toUpperCase());

export const parserVariants: readonly ParserVariant[] = [
  { name: 'first wins', wins: 'first', numbers: 'float64', fold: same },
  { name: 'last wins', wins: 'last', numbers: 'float64', fold: same },
  { name: 'float64, case folded', wins: 'last', numbers: 'float64', fold: goFold },
  { name: 'lossless', wins: 'last', numbers: 'exact', fold: same },
  { name: 'camel case as well, first wins', wins: 'first', numbers: 'exact', fold: protobufFold },
];

type Cursor = { at: number };

const token = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/** Parses valid JSON as this kind of server would. */
export function parseAs(variant: ParserVariant, text: string): ParsedValue {
  return parseValue(variant, text, { at: 0 });
}

function next(text: string, cursor: Cursor): RegExpExecArray {
  token.lastIndex = cursor.at;
  const match = token.exec(text);
  if (match === null) throw new SyntaxError(`no JSON at ${cursor.at}`);
  cursor.at = token.lastIndex;
  return match;
}

function parseValue(variant: ParserVariant, text: string, cursor: Cursor): ParsedValue {
  const [, mark, string, number, word] = next(text, cursor);
  if (string !== undefined) return JSON.parse(string) as string;
  if (number !== undefined) return variant.numbers === 'exact' ? { exact: number } : Number(number);
  if (word !== undefined) return word === 'null' ? null : word === 'true';
  return mark === '[' ? parseArray(variant, text, cursor) : parseObject(variant, text, cursor);
}

function peekIs(text: string, cursor: Cursor, mark: string): boolean {
  const { at } = cursor;
  const isMark = next(text, cursor)[1] === mark;
  if (!isMark) cursor.at = at;
  return isMark;
}

function parseArray(variant: ParserVariant, text: string, cursor: Cursor): ParsedValue {
  const items: ParsedValue[] = [];
  if (peekIs(text, cursor, ']')) return items;
  do items.push(parseValue(variant, text, cursor));
  while (next(text, cursor)[1] === ',');
  return items;
}

function parseObject(variant: ParserVariant, text: string, cursor: Cursor): ParsedValue {
  const members = new Map<string, ParsedValue>();
  if (peekIs(text, cursor, '}')) return members;
  do {
    const key = variant.fold(JSON.parse(next(text, cursor)[2] ?? '""') as string);
    next(text, cursor);
    const value = parseValue(variant, text, cursor);
    if (variant.wins === 'last' || !members.has(key)) members.set(key, value);
  } while (next(text, cursor)[1] === ',');
  return members;
}

/** Writes a value so that equal values are equal texts, and numbers only if all their digits are equal. */
export function canonicalOf(value: ParsedValue): string {
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, ParsedValue>)].map(
      ([key, member]) => `${JSON.stringify(key)}:${canonicalOf(member)}`,
    );
    return `{${members.toSorted().join(',')}}`;
  }
  if (Array.isArray(value)) return `[${(value as readonly ParsedValue[]).map(canonicalOf).join(',')}]`;
  if (typeof value === 'object' && value !== null && 'exact' in value) return value.exact;
  return JSON.stringify(value);
}
