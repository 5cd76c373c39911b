import { isDeepStrictEqual } from 'node:util';

import { type CallFact, describeCall, readFirstByteMs } from '../../../billing/calls/call-fact.ts';
import { decodeEntry } from '../../../billing/ledger/entry-json.ts';
import { StoreError } from '../../store-error.ts';
import { countMarks, countShapedValues, fillTemplate, readShapedValue, readShapedValues } from '../call-shapes.ts';
import type { Database } from '../database.ts';

/** The facts that all entries of a shape have in common, and which of an entry's values are facts. */
type CommonFacts = {
  readonly fact: CallFact;
  readonly values: number;
  readonly firstByteAt: number | undefined;
  readonly tagsAt: number | undefined;
};

type KnownShape = { readonly template: string; readonly common: CommonFacts | undefined };

/** Model names come from clients: the limit keeps their shapes from filling memory. */
const shapesMax = 5000;

/**
 * Reads the facts of ledger entries. The text that entries of one shape have in common is parsed once: parsing each
 * entry would take as long as booking it.
 */
export class EntryFacts {
  readonly #shapes = new Map<number, KnownShape>();

  /** Reads the shapes of some rows from the database. Call it before `factOf`. */
  async load(database: Pick<Database, 'first'>, shapes: Iterable<number>): Promise<void> {
    if (this.#shapes.size > shapesMax) this.#shapes.clear();
    for (const id of shapes) {
      if (this.#shapes.has(id)) continue;
      const row = await database.first('select template from call_shapes where id = ?', id);
      const template = row?.['template'];
      if (typeof template === 'string') this.#shapes.set(id, { template, common: readCommonFacts(template) });
    }
  }

  /**
   * The facts of an entry. Throws an Error if its text was damaged.
   * @param text the column `entry`
   * @param shape undefined if the text is whole
   */
  factOf(callId: string, text: string, shape: number | undefined): CallFact {
    if (shape === undefined) return describeText(text);
    const known = this.#shapes.get(shape);
    if (known === undefined) throw new StoreError('corrupt', `The ledger lacks the shape ${shape}.`);
    const { template, common } = known;
    return common !== undefined && common.values === countShapedValues(text)
      ? ownFacts(common, text)
      : describeText(fillTemplate(template, readShapedValues(text), callId));
  }
}

const describeText = (text: string): CallFact => describeCall(decodeEntry(JSON.parse(text)));

function ownFacts({ fact, firstByteAt, tagsAt }: CommonFacts, text: string): CallFact {
  if (firstByteAt === undefined && tagsAt === undefined) return fact;
  return {
    ...fact,
    firstByteMs: firstByteAt === undefined ? undefined : readFirstByteMs(Number(readShapedValue(text, firstByteAt))),
    tags: tagsAt === undefined ? undefined : (JSON.parse(`"${readShapedValue(text, tagsAt)}"`) as string),
  };
}

/** More than the marks of any template. */
const otherNumbers = 1_000_000;

/**
 * Finds out which values are facts: each is replaced by its number, in two ways. Undefined if anything else depends on
 * a value, such as the name of a model that looks like one.
 */
function readCommonFacts(template: string): CommonFacts | undefined {
  const values = countMarks(template);
  const describe = (first: number): CallFact => {
    const numbers = Array.from({ length: values }, (_, at) => String(first + at));
    return describeText(fillTemplate(template, numbers, ''));
  };
  try {
    const [fact, other] = [describe(0), describe(otherNumbers)];
    const firstByteAt = fact.firstByteMs;
    const tagsAt = fact.tags === undefined ? undefined : Number(fact.tags);
    const expected: CallFact = {
      ...fact,
      firstByteMs: firstByteAt === undefined ? undefined : firstByteAt + otherNumbers,
      tags: tagsAt === undefined ? undefined : String(tagsAt + otherNumbers),
    };
    // The end of a part's call depends on its id.
    return fact.parentId === undefined && isDeepStrictEqual(other, expected) ? { fact, values, firstByteAt, tagsAt } : undefined;
  } catch {
    // The template was damaged. Each of its rows says so.
    return undefined;
  }
}
