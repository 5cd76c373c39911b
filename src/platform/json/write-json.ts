import { joinInSlices } from '../join-in-slices.ts';
import { stepBytesUsual, WorkSlices } from '../yield-queue.ts';
import { isJsonObject, type JsonValue } from './json-value.ts';

/** Characters that are written in one step. */
const stepCharactersUsual = stepBytesUsual;

/** The weight of a value besides its characters, because many small values take time too. */
const valueWeight = 8;

/**
 * The bytes of a value as JSON, exactly those of `JSON.stringify`. A small value is written at once. A large one is
 * written in slices, and a promise is returned; the value must not change meanwhile.
 */
export function writeJson(value: JsonValue): Buffer | Promise<Buffer> {
  if (weigh(value, stepCharactersUsual) < stepCharactersUsual) return Buffer.from(JSON.stringify(value));
  return writeJsonInSlices(value);
}

/** Writes a large value for `writeJson`. */
export async function writeJsonInSlices(
  value: JsonValue,
  {
    slices = new WorkSlices(),
    stepCharacters = stepCharactersUsual,
  }: { readonly slices?: WorkSlices; readonly stepCharacters?: number } = {},
): Promise<Buffer> {
  const writer = new SliceWriter(slices, stepCharacters);
  await writer.write(value);
  return await writer.finish();
}

/**
 * Estimates the characters of a value, and stops soon after `most`.
 * @param see called with every container and its weight, as far as it was measured
 */
function weigh(value: JsonValue | undefined, most: number, see?: (container: object, weight: number) => void): number {
  if (typeof value === 'string') return value.length + valueWeight;
  if (typeof value !== 'object' || value === null) return valueWeight;
  let weight = valueWeight;
  if (!isJsonObject(value)) {
    for (let index = 0; index < value.length && weight < most; index++) weight += weigh(value[index], most - weight, see);
  } else {
    for (const key in value) {
      const member = value[key];
      // Most members are short texts, which are not worth a call.
      weight += key.length + (typeof member === 'string' ? member.length + valueWeight : weigh(member, most - weight, see));
      if (weight >= most) break;
    }
  }
  see?.(value, weight);
  return weight;
}

/** Writes one value: large members piece by piece, and small ones between them together. */
class SliceWriter {
  readonly #slices: WorkSlices;
  readonly #stepCharacters: number;
  readonly #pieces: Buffer[] = [];
  /**
   * Containers that are known to be large because an outer container was weighed. If each level weighed them again, a
   * deep tree would take its depth times as long.
   */
  readonly #large = new Set<object>();
  #bytes = 0;
  /** Written text that is not yet among the pieces. */
  #text = '';

  constructor(slices: WorkSlices, stepCharacters: number) {
    this.#slices = slices;
    this.#stepCharacters = stepCharacters;
  }

  async finish(): Promise<Buffer> {
    this.#flush();
    return await joinInSlices(this.#pieces, this.#bytes, this.#slices);
  }

  async write(value: JsonValue): Promise<void> {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) await this.#add(JSON.stringify(value));
    else if (!this.#isLarge(value)) await this.#add(JSON.stringify(value));
    else if (typeof value === 'string') await this.#writeString(value);
    else if (isJsonObject(value)) await this.#writeObject(Object.entries(value));
    else await this.#writeArray(value);
  }

  #isLarge(value: string | object): boolean {
    return (typeof value === 'object' && this.#large.has(value)) || this.#weigh(value as JsonValue) >= this.#stepCharacters;
  }

  #weigh(value: JsonValue | undefined): number {
    return weigh(value, this.#stepCharacters, (container, weight) => {
      if (weight >= this.#stepCharacters / 2) this.#large.add(container);
    });
  }

  async #writeString(text: string): Promise<void> {
    this.#text += '"';
    for (let at = 0; at < text.length;) {
      let end = Math.min(at + this.#stepCharacters, text.length);
      // If a surrogate pair were split, each half would be written as an escape.
      if ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end++;
      await this.#add(JSON.stringify(text.slice(at, end)).slice(1, -1));
      at = end;
    }
    this.#text += '"';
  }

  async #writeArray(items: readonly JsonValue[]): Promise<void> {
    this.#text += '[';
    for (let at = 0; at < items.length;) {
      if (at > 0) this.#text += ',';
      let end = at;
      for (let weight = 0; end < items.length; end++) {
        weight += this.#weigh(items[end]);
        if (weight >= this.#stepCharacters) break;
      }
      if (end === at) await this.write(items[at++] ?? null);
      else {
        await this.#add(JSON.stringify(items.slice(at, end)).slice(1, -1));
        at = end;
      }
    }
    this.#text += ']';
  }

  async #writeObject(members: readonly (readonly [string, JsonValue | undefined])[]): Promise<void> {
    let separator = '{';
    for (const [key, member] of members) {
      // JSON.stringify omits them too.
      if (member === undefined) continue;
      this.#text += `${separator}${JSON.stringify(key)}:`;
      separator = ',';
      await this.write(member);
    }
    this.#text += separator === '{' ? '{}' : '}';
  }

  async #add(text: string): Promise<void> {
    this.#text += text;
    if (this.#text.length < this.#stepCharacters) return;
    this.#flush();
    if (this.#slices.isOver) await this.#slices.yield();
  }

  #flush(): void {
    const piece = Buffer.from(this.#text);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#text = '';
  }
}
