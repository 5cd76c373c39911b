import { type FactName, type NameKind, nameKinds } from '../../../billing/calls/call-fact.ts';
import { toStorableText } from '../../storable-text.ts';
import type { Database } from '../database.ts';
import { readInteger, readText } from '../read-column.ts';

/** Model names come from clients: the limit keeps them from filling memory. */
const namesMax = 50_000;

/** Reads names by their numbers, and numbers by their names. Neither ever changes. */
export class NameReader {
  readonly #names = new Map<number, FactName>();

  /** The name of a number. Undefined for 0. */
  async nameOf(database: Database, number: number): Promise<FactName | undefined> {
    if (number === 0) return undefined;
    const known = this.#names.get(number);
    if (known !== undefined) return known;
    const row = await database.first('select value, label from fact_names where id = ?', number);
    if (row === undefined) return undefined;
    const name = { value: readText(row, 'value'), label: readText(row, 'label') };
    if (this.#names.size >= namesMax) this.#names.clear();
    this.#names.set(number, name);
    return name;
  }

  /** The names of some numbers, as `nameOf` finds them: reading many rows then waits for few promises. */
  async namesOf(database: Database, numbers: Iterable<number>): Promise<ReadonlyMap<number, FactName>> {
    const found = new Map<number, FactName>();
    for (const number of new Set(numbers)) {
      const name = this.#names.get(number) ?? (await this.nameOf(database, number));
      if (name !== undefined) found.set(number, name);
    }
    return found;
  }

  /** The number of a value of a tag, or of a tag's name without one. Undefined if no call has it. */
  async tagNumber(database: Database, name: string, value?: string): Promise<number | undefined> {
    const [kind, text, label] = value === undefined ? (['tagName', name, ''] as const) : (['tagValue', value, name] as const);
    const sql = 'select id from fact_names where kind = ? and value = ? and label = ?';
    const row = await database.first(sql, nameKinds[kind], toStorableText(text), toStorableText(label));
    return row === undefined ? undefined : readInteger(row, 'id');
  }

  /** The numbers of a value, or of a label. Empty if no call has the name. */
  async numbersOf(database: Database, kind: NameKind, column: 'value' | 'label', text: string): Promise<readonly number[]> {
    const sql = `select id from fact_names where kind = ? and ${column} = ? ${column === 'label' ? "and label <> ''" : ''}`;
    const rows = await database.all(sql, nameKinds[kind], toStorableText(text));
    return rows.map((row) => readInteger(row, 'id'));
  }
}
