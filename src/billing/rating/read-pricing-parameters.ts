import { GatewayError } from '../../inference/gateway-error.ts';
import type { PricingParameters } from '../../inference/usage.ts';
import type { JsonSpan } from '../../platform/json/json-span.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import { listElements, listMembers, locateJson } from '../../platform/json/locate-json.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { compare, readNumber } from './fraction.ts';

/** No text of an expression is as long as that, so that a longer value differs from all of them when it is cut. */
const textCharactersMax = 256;
const numberCharactersMax = 64;
const whole: readonly (string | number)[] = [];

/**
 * Reads values out of the body that is sent upstream, by their JSON pointers: what a price depends on has to be what the upstream sees. The bytes have passed `scanJson`, which refuses
 * duplicate keys; a body that is no JSON object has none of the values. What is absent or null is left out.
 * @throws GatewayError `invalid_value` for a number that parsers read differently, such as 15.0000000000000001 or 1e400: nobody could say what it costs
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

/** Names that are written in JSON as they are, unless by escapes such as \u0073. */
const plainName = /^[A-Za-z_][\w.-]*$/;

/**
 * The pointers whose last name the body mentions at all. Most requests have none of them, and to look for a word is much quicker than to walk through a body. Where ASCII letters are
 * escaped, any name may be there.
 */
function findMentioned(bytes: Buffer, pointers: readonly string[]): readonly string[] {
  const mentioned = pointers.filter((pointer) => {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    return !plainName.test(name) || bytes.includes(`"${name}"`, 0, 'latin1');
  });
  return mentioned.length < pointers.length && bytes.includes('\\u00', 0, 'latin1') ? pointers : mentioned;
}

/** Finds values in one body; every object on the way is read once. */
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
    const known = this.#members.get(place);
    if (known !== undefined) return known;
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
  if (text.length <= numberCharactersMax && isReadAlike(text)) return text;
  const param = pointer.slice(1).replaceAll('/', '.');
  throw new GatewayError('invalid_value', `${param}: has to be a number of at most 15 digits, because the price depends on it`, { param });
}

/** Whether a parser that keeps all digits and one of floating point take it for the same number. */
function isReadAlike(text: string): boolean {
  const exact = readNumber(text);
  const float = readNumber(String(Number(text)));
  return exact !== undefined && float !== undefined && compare(exact, float) === 0;
}
