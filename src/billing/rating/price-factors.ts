import type { ChargeLine } from '../ledger/call-entry.ts';
import { isDecimal } from './decimal.ts';

/** Factors of all charges of some users or keys, as decimal strings. The factors of a user and of a key both apply. */
export type PriceFactors = {
  /** By the user's name. */
  readonly users?: Readonly<Record<string, string>>;
  /** By the key's id. */
  readonly keys?: Readonly<Record<string, string>>;
};

/** The payer, as far as prices may depend on it. */
export type PayingParty = { readonly userName?: string | undefined; readonly keyId?: string | undefined };

/** The multipliers of one payer, as lines contain them; undefined if there are none. */
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
    .map(([who, factor]) => `The price factor of ${who} must be a decimal such as "0.9"; got "${factor.slice(0, 32)}".`);
}
