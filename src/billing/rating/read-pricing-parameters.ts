import { GatewayError } from '../../inference/gateway-error.ts';
import type { PricingParameters } from '../../inference/usage.ts';
import type { JsonSpan } from '../../platform/json/json-span.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import { listElements, listMembers, locateJson } from '../../platform/json/locate-json.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { compare, readNumber } from './fraction.ts';

/** Texts in expressions are shorter than this, so a longer value differs from all of them even if it is cut. */
const textCharactersMax = 256;
const numberCharactersMax = 64;
const whole: readonly (string | number)[] = [];

/**
 * Reads values of the body that is sent upstream, by JSON pointer: the values of a price must be those that the
 * upstream reads. The bytes have passed `scanJson`, which refuses duplicate keys; a body that is not a JSON object has
 * none of the values. Absent and null values are omitted.
 * @throws GatewayError `invalid_value` for a number that parsers read differently, such as 15.0000000000000001 or
 * 1e400, because its price would be unclear
 */
export function readPricingParameters(bytes: Buffer, pointers: readonly string[]): PricingParameters | undefined {
  const mayHave = findMentioned(bytes, pointers);
  if (mayHave.length === 0) return undefined;
  const reader = new BodyReader(bytes);
  const found: Record<string, string> = {};
  for (const pointer of mayHave) {
    const span = reader.find(pointer);
    const text = span === undefined ? undefined : writeValue(bytes, span, pointer);
    if (text !== undefined) found[pointer] = text;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Names that JSON writes unchanged, unless with escapes such as \u0073. */
const plainName = /^[A-Za-z_][\w.-]*$/;

/**
 * The pointers whose last name occurs in the body. Most requests have none of them, and searching for a word is much
 * faster than parsing a body. If ASCII letters are escaped, any name may be there.
 */
function findMentioned(bytes: Buffer, pointers: readonly string[]): readonly string[] {
  const mentioned = pointers.filter((pointer) => {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    return !plainName.test(name) || bytes.includes(`"${name}"`, 0, 'latin1');
  });
  return mentioned.length < pointers.length && bytes.includes('\\u00', 0, 'latin1') ? pointers : mentioned;
}

/** Finds values in one body; reads every object on the way once. */
class BodyReader {
  readonly #bytes: Buffer;
  readonly #members = new Map<string, ReadonlyMap<string, JsonSpan>>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  find(pointer: string): JsonSpan | undefined {
    let span = locateJson(this.#bytes, whole);
    let place = '';
    for (const step of pointer.split('/').slice(1)) {
      if (span === undefined) return undefined;
      span = this.#membersAt(place, span).get(step.replaceAll('~1', '/').replaceAll('~0', '~'));
      place += `/${step}`;
    }
    return span;
  }

  #membersAt(place: string, span: JsonSpan): ReadonlyMap<string, JsonSpan> {
    const cached = this.#members.get(place);
    if (cached !== undefined) return cached;
    const members =
      this.#bytes[span.start] === 0x5b
        ? new Map(listElements(this.#bytes, span).map((element, index) => [String(index), element]))
        : new Map(listMembers(this.#bytes, span).map(({ key, valueSpan }) => [key, valueSpan]));
    this.#members.set(place, members);
    return members;
  }
}

/** A value as a pricing parameter; undefined for null. */
function writeValue(bytes: Buffer, span: JsonSpan, pointer: string): string | undefined {
  switch (bytes[span.start] ?? 0) {
    case 0x7b:
      return `{${listMembers(bytes, span).length}}`;
    case 0x5b:
      return `[${listElements(bytes, span).length}]`;
    case 0x22:
      return writeText(parseJson(bytes.subarray(span.start, span.end)));
    case 0x74:
      return 'true';
    case 0x66:
      return 'false';
    case 0x6e:
      return undefined;
    default:
      return writeNumber(bytes, span, pointer);
  }
}

function writeText(text: JsonValue): string | undefined {
  return typeof text === 'string' ? JSON.stringify(text.slice(0, textCharactersMax)) : undefined;
}

function writeNumber(bytes: Buffer, { start, end }: JsonSpan, pointer: string): string {
  const text = bytes.toString('latin1', start, Math.min(end, start + numberCharactersMax + 1));
  if (text.length <= numberCharactersMax && hasOneReading(text)) return text;
  const param = pointer.slice(1).replaceAll('/', '.');
  throw new GatewayError('invalid_value', `${param}: must be a number of at most 15 digits, because the price depends on it`, { param });
}

/** Whether an exact parser and a floating-point parser read the same number. */
function hasOneReading(text: string): boolean {
  const exact = readNumber(text);
  const float = readNumber(String(Number(text)));
  return exact !== undefined && float !== undefined && compare(exact, float) === 0;
}
