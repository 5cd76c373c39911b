import type { ChargeLine } from '../ledger/call-entry.ts';
import { isDecimal } from './decimal.ts';

/** What some pay more or less than the list says, as decimal strings by which everything they are charged is multiplied. A user's and a key's factor both apply. */
export type PriceFactors = {
  /** By the user's name. */
  readonly users?: Readonly<Record<string, string>>;
  /** By the key's id. */
  readonly keys?: Readonly<Record<string, string>>;
};

/** Who pays, as far as prices may depend on it. */
export type PayingParty = { readonly userName?: string | undefined; readonly keyId?: string | undefined };

/** The multipliers of one payer, as lines carry them; undefined where there is none. */
export function factorsOf(factors: PriceFactors, { userName, keyId }: PayingParty): ChargeLine['multipliers'] {
  const user = find(factors.users, userName);
  const key = find(factors.keys, keyId);
  if (user === undefined && key === undefined) return undefined;
  return { ...(user === undefined ? {} : { [`user:${userName}`]: user }), ...(key === undefined ? {} : { [`key:${keyId}`]: key }) };
}

function find(table: Readonly<Record<string, string>> | undefined, name: string | undefined): string | undefined {
  return table === undefined || name === undefined || !Object.hasOwn(table, name) ? undefined : table[name];
}

export function factorProblems({ users = {}, keys = {} }: PriceFactors): string[] {
  return [
    ...Object.entries(users).map(([name, factor]) => [`user ${name}`, factor] as const),
    ...Object.entries(keys).map(([id, factor]) => [`key ${id}`, factor] as const),
  ]
    .filter(([, factor]) => !isDecimal(factor))
    .map(([who, factor]) => `The price factor of ${who} must be a decimal such as "0.9", not "${factor.slice(0, 32)}".`);
}
