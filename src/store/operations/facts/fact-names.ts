import { type CallFact, type FactName, type NameKind, nameKinds } from '../../../billing/calls/call-fact.ts';
import { toStorableText } from '../../storable-text.ts';
import type { Database } from '../database.ts';
import { readInteger } from '../read-column.ts';

/** Model names come from clients: the limit keeps them from filling memory. */
const namesMax = 50_000;

/** The numbers of the names of a call; 0 for one that it lacks. */
export type NameRefs = Readonly<Record<keyof CallFact['names'], number>>;

/**
 * The numbers of names. A transaction collects new ones in an overlay, which becomes valid with its commit: a
 * transaction may run several times, and a number that was not committed may get another name.
 */
export class FactNames {
  readonly #known = new Map<string, number>();
  /** Those of the names that calls of one shape share. */
  readonly #ofCalls = new WeakMap<CallFact['names'], NameRefs>();

  /** Begins an attempt of a transaction. @param lastName the highest number in use */
  begin(transaction: Database, lastName: number): NamesInTransaction {
    return new NamesInTransaction(transaction, { names: this.#known, ofCalls: this.#ofCalls }, lastName);
  }

  /** The transaction was committed. */
  keep({ added, ofCalls }: NamesInTransaction): void {
    if (this.#known.size + added.size > namesMax) this.#known.clear();
    for (const [key, number] of added) this.#known.set(key, number);
    for (const [names, refs] of ofCalls) this.#ofCalls.set(names, refs);
  }
}

/** The committed numbers. */
type KnownNames = {
  readonly names: ReadonlyMap<string, number>;
  readonly ofCalls: Pick<WeakMap<CallFact['names'], NameRefs>, 'get'>;
};

export class NamesInTransaction {
  readonly added = new Map<string, number>();
  readonly ofCalls = new Map<CallFact['names'], NameRefs>();
  readonly #transaction: Database;
  readonly #known: KnownNames;
  #lastName: number;

  constructor(transaction: Database, known: KnownNames, lastName: number) {
    this.#transaction = transaction;
    this.#known = known;
    this.#lastName = lastName;
  }

  get lastName(): number {
    return this.#lastName;
  }

  /** The numbers of the names of a call, if they were found before. The same object has the same names. */
  knownRefs(names: CallFact['names']): NameRefs | undefined {
    return this.#known.ofCalls.get(names) ?? this.ofCalls.get(names);
  }

  /** The numbers of the names of a call. */
  async refsOf(names: CallFact['names']): Promise<NameRefs> {
    const refs: NameRefs = {
      user: await this.numberOf('user', names.user),
      key: await this.numberOf('key', names.key),
      model: await this.numberOf('model', names.model),
      servedModel: await this.numberOf('servedModel', names.servedModel),
      upstream: await this.numberOf('upstream', names.upstream),
      upstreamModel: await this.numberOf('upstreamModel', names.upstreamModel),
      interface: await this.numberOf('interface', names.interface),
      error: await this.numberOf('error', names.error),
      team: await this.numberOf('team', names.team),
    };
    this.ofCalls.set(names, refs);
    return refs;
  }

  /** The number of a name; 0 without a name. */
  async numberOf(kind: NameKind, name: FactName | undefined): Promise<number> {
    if (name === undefined) return 0;
    const known = await this.find(kind, name);
    if (known !== undefined) return known;
    const [value, label] = [toStorableText(name.value), toStorableText(name.label)];
    const number = (this.#lastName += 1);
    const insert = 'insert into fact_names (id, kind, value, label) values (?, ?, ?, ?)';
    await this.#transaction.run(insert, number, nameKinds[kind], value, label);
    this.added.set(keyOf(kind, value, label), number);
    return number;
  }

  /** The number of a name that has one. */
  async find(kind: NameKind, name: FactName): Promise<number | undefined> {
    const [value, label] = [toStorableText(name.value), toStorableText(name.label)];
    const key = keyOf(kind, value, label);
    const known = this.#known.names.get(key) ?? this.added.get(key);
    if (known !== undefined) return known;
    const find = 'select id from fact_names where kind = ? and value = ? and label = ?';
    const row = await this.#transaction.first(find, nameKinds[kind], value, label);
    if (row === undefined) return undefined;
    const number = readInteger(row, 'id');
    this.added.set(key, number);
    return number;
  }
}

const keyOf = (kind: NameKind, value: string, label: string): string => `${nameKinds[kind]}\0${value}\0${label}`;
