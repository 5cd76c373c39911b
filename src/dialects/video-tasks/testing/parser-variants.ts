/** A number as its digits: sign, digits without leading zeros, and the power of ten of the last one. */
type ExactNumber = { readonly exact: string };
export type ParsedValue = string | boolean | null | number | ExactNumber | readonly ParsedValue[] | ReadonlyMap<string, ParsedValue>;

/** How servers read JSON differently. */
export type ParserVariant = {
  readonly name: string;
  /** Of members with the same name. */
  readonly wins: 'first' | 'last';
  readonly numbers: 'float64' | 'exact';
  /** What makes names the same, besides being equal. */
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

/** A value in a form in which equal values are equal, and numbers only when all their digits are. */
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
