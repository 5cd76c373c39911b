import { createHash } from 'node:crypto';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import { inParts, perRows, valuesOf } from './in-parts.ts';
import { readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

/** The text that many entries have in common, in UTF-8: it has a mark where each has a value of its own. */
export type CallShape = {
  readonly id: number;
  readonly template: Buffer;
  /** Where the parts between the marks end. */
  readonly fixed: readonly number[];
};

/** The values of one entry in UTF-8, in the order of the marks of its shape. */
export type ShapedText = { readonly shape: CallShape; readonly values: Buffer };

/** Stands for a value in a template, and follows each value of an entry. JSON text has no control characters. */
const valueMark = '\x1f';
const valueMarkByte = 0x1f;
/** As the first value: the id of the row. */
const idMark = '\x1e';
const idMarkByte = 0x1e;

/** Numbers, and the texts that are different in each entry, as encodeEntry writes them. */
const ownValues =
  /(?<="(?:callId|upstreamRequestId|replyId|amountNanoUsd|heldNanoUsd|tags)":")(?:[^"\\]|\\.)*(?=")|(?<=":)(?<!"(?:per|upstreamStatus)":)-?\d[\d.eE+-]*(?=[,}])/g;

/** Longer texts are of unusual entries, which rarely repeat. */
const textBytesMax = 4096;
/** The shapes of one key and model: streams and whole replies, stop reasons, kinds of usage. */
const shapesOfNamesMax = 8;
/** Model names come from clients: the limit keeps them from filling memory. */
const namesMax = 5000;

type Known = { readonly shapes: CallShape[]; candidate: string | undefined };

/**
 * Finds what entries share. A shape is used from the second entry that has it, so that a text that never repeats is not
 * stored twice. It is found by comparing texts, and an entry is put together again from exactly what was cut apart.
 */
export class CallShapes {
  readonly #known = new Map<string, Known>();
  /** The ids of shapes that were committed. */
  readonly #stored = new Set<number>();
  /** The ids that other templates have in the database. */
  readonly #taken = new Set<number>();

  /**
   * Undefined for a text that is to be stored as a whole.
   * @param names entries with the same names are likely to have the same shape
   */
  split(names: string, callId: string, text: Buffer): ShapedText | undefined {
    if (text.length > textBytesMax) return undefined;
    const known = this.#find(names);
    for (const [index, shape] of known.shapes.entries()) {
      const values = cutOut(shape, callId, text);
      if (values === undefined) continue;
      // The next entry is likely to have the same one.
      if (index > 0) known.shapes.unshift(...known.shapes.splice(index, 1));
      return { shape, values };
    }
    // One character for each byte: nothing is decoded, and cut between ASCII characters only.
    const template = text.toString('latin1').replace(ownValues, valueMark);
    if (template !== known.candidate) {
      known.candidate = template;
      return undefined;
    }
    const shape = describe(Buffer.from(template, 'latin1'));
    const values = this.#taken.has(shape.id) ? undefined : cutOut(shape, callId, text);
    if (values === undefined) return undefined;
    known.shapes.unshift(shape);
    known.shapes.splice(shapesOfNamesMax);
    return { shape, values };
  }

  #find(names: string): Known {
    const found = this.#known.get(names);
    if (found !== undefined) return found;
    if (this.#known.size >= namesMax) this.#known.clear();
    const known = { shapes: [], candidate: undefined };
    this.#known.set(names, known);
    return known;
  }

  /** Writes shapes that are not known to be in the database, in the transaction that books their entries. */
  async write(database: Database, shapes: ReadonlySet<CallShape>): Promise<void> {
    // All transactions write in the same order, so that no two deadlock.
    const others = [...shapes].filter(({ id }) => !this.#stored.has(id)).toSorted((one, other) => one.id - other.id);
    const insert = insertShapes(database.fragments.textOfBytes);
    for (const part of inParts(others, database.fragments.sumsPerInsert)) {
      const values = part.flatMap(({ id, template }) => [id, template]);
      if ((await database.run(insert(part.length), ...values)) < part.length) await this.#compare(database, part);
    }
  }

  /** Ids are parts of hashes. Entries must not get the template of another shape with the same id. */
  async #compare(database: Database, shapes: readonly CallShape[]): Promise<void> {
    for (const { id, template } of shapes) {
      const row = await database.first('select template from call_shapes where id = ?', id);
      if (row !== undefined && Buffer.from(readText(row, 'template')).equals(template)) continue;
      this.#taken.add(id);
      this.#known.clear();
      throw new StoreError('unavailable', `The id ${id} of a shape is taken; its entries are booked as a whole when they are sent again.`);
    }
  }

  /** The transaction that wrote shapes was committed, or not: then nothing is known about the database. */
  noteWritten(shapes: ReadonlySet<CallShape> | undefined): void {
    if (shapes === undefined || this.#stored.size > namesMax) this.#stored.clear();
    for (const { id } of shapes ?? []) this.#stored.add(id);
  }
}

const insertsOfShapes = new Map<string, (rows: number) => string>();

function insertShapes(textOfBytes: string): (rows: number) => string {
  return insertsOfShapes.getOrInsertComputed(textOfBytes, () =>
    perRows((rows) => `insert into call_shapes (id, template) ${valuesOf(`(?, ${textOfBytes})`, rows)} on conflict (id) do nothing`),
  );
}

function describe(template: Buffer): CallShape {
  const fixed = [...template.keys()].filter((at) => template[at] === valueMarkByte);
  // 48 bits of a hash: the same id in every process, and a short number.
  return { id: createHash('sha256').update(template).digest().readUIntBE(0, 6), template, fixed: [...fixed, template.length] };
}

/** The values of the text at hand, which are fewer bytes than the text. */
const valueBytes = Buffer.alloc(textBytesMax + 1);

/**
 * The values of a text with this shape, each with its mark. They are in the memory of the text, of which nothing else
 * is left. Undefined if the text has another shape; then it is unchanged.
 */
function cutOut({ template, fixed }: CallShape, callId: string, text: Buffer): Buffer | undefined {
  const { length } = text;
  let from = 0;
  let to = 0;
  let begin = 0;
  for (const end of fixed) {
    if (!isSame(template, begin, end, text, from)) return undefined;
    from += end - begin;
    begin = end + 1;
    if (end === template.length) break;
    const start = from;
    // A value has no quote, comma or brace unless it is an escaped quote; then the rest does not fit.
    const next = template[begin];
    for (; from < length && text[from] !== next; from += 1) valueBytes[to++] = text[from] ?? 0;
    if (end === fixed[0] && isAt(text, start, from, callId)) {
      to = 0;
      valueBytes[to++] = idMarkByte;
    }
    valueBytes[to++] = valueMarkByte;
  }
  if (from !== length) return undefined;
  valueBytes.copy(text, 0, 0, to);
  return text.subarray(0, to);
}

/** From this length on, the call of a native comparison costs less than comparing here. */
const nativeBytesMin = 64;

/** Whether a text has these bytes of a template at an offset. */
function isSame(template: Buffer, begin: number, end: number, text: Buffer, at: number): boolean {
  const length = end - begin;
  if (at + length > text.length) return false;
  if (length >= nativeBytesMin) return template.compare(text, at, at + length, begin, end) === 0;
  for (let index = 0; index < length; index += 1) if (template[begin + index] !== text[at + index]) return false;
  return true;
}

/** Whether these bytes are an ASCII text. */
function isAt(bytes: Buffer, begin: number, end: number, text: string): boolean {
  if (end - begin !== text.length) return false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f || bytes[begin + index] !== code) return false;
  }
  return true;
}

/** Rows of calls with what readEntryText needs; conditions and an order may follow. */
export const selectCalls = 'select calls.*, call_shapes.template from calls left join call_shapes on call_shapes.id = calls.shape';

/** The text of an entry as it was booked. */
export function readEntryText(row: SqlRow): string {
  const text = readText(row, 'entry');
  if ((row['shape'] ?? null) === null) return text;
  return fillTemplate(readOptionalText(row, 'template') ?? '', readShapedValues(text), readText(row, 'call_id'));
}

/** The values of an entry with a shape, in the order of the marks. */
export function readShapedValues(text: string): readonly string[] {
  const values = text.split(valueMark);
  // A mark follows the last value.
  if (values.pop() !== '') throw doesNotFit();
  return values;
}

/** How many values of an entry with a shape there are; undefined for a text that has none of this form. */
export function countShapedValues(text: string): number | undefined {
  // A mark follows the last value.
  return text.endsWith(valueMark) ? countMarks(text) : undefined;
}

/** One value of an entry with a shape. @param index less than the number of values */
export function readShapedValue(text: string, index: number): string {
  let from = 0;
  for (let before = 0; before < index; before += 1) from = text.indexOf(valueMark, from) + 1;
  return text.slice(from, text.indexOf(valueMark, from));
}

/**
 * A template with values in the places of its marks.
 * @param callId the id of the row, for which a value can be a mark
 */
export function fillTemplate(template: string, values: readonly string[], callId: string): string {
  const parts = template.split(valueMark);
  if (parts.length !== values.length + 1) throw doesNotFit();
  let joined = parts[0] ?? '';
  for (const [index, value] of values.entries()) joined += (value === idMark ? callId : value) + (parts[index + 1] ?? '');
  return joined;
}

/** The number of marks in a text. */
export function countMarks(text: string): number {
  let marks = 0;
  for (let at = text.indexOf(valueMark); at >= 0; at = text.indexOf(valueMark, at + 1)) marks += 1;
  return marks;
}

const doesNotFit = (): StoreError => new StoreError('corrupt', 'An entry of the ledger does not fit its shape.');
