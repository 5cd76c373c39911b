import type { OperationId } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';

/** Whose account it is. */
export type AccountOwner = { readonly level: 'user' | 'team'; readonly name: string } | { readonly level: 'organization' };

/** `user:ann`, as a choice of a form and a part of an address. */
export const ownerText = (owner: AccountOwner): string =>
  owner.level === 'organization' ? 'organization' : `${owner.level}:${owner.name}`;

/** @returns undefined if the text names no owner */
export function readOwner(text: string): AccountOwner | undefined {
  if (text === 'organization') return { level: 'organization' };
  const [level, ...words] = text.split(':');
  const name = words.join(':');
  return (level === 'user' || level === 'team') && name !== '' ? { level, name } : undefined;
}

const postings = { user: 'credits.post', team: 'credits.post_team', organization: 'credits.post_organization' } as const satisfies Record<
  AccountOwner['level'],
  OperationId
>;
const statements = {
  user: 'credits.statement',
  team: 'credits.team_statement',
  organization: 'credits.organization_statement',
} as const satisfies Record<AccountOwner['level'], OperationId>;

export const postingOf = ({ level }: AccountOwner) => postings[level];
export const statementOf = ({ level }: AccountOwner) => statements[level];
export const paramsOf = (owner: AccountOwner): { readonly name: string } => ({ name: owner.level === 'organization' ? '' : owner.name });

/** The words of the command line before the amount: `weir credits top-up ann`. */
export function commandOf(owner: AccountOwner, verb: string): string {
  if (owner.level === 'organization') return `weir organization ${verb}`;
  return `weir ${owner.level === 'user' ? 'credits' : 'teams'} ${verb} ${quote(owner.name)}`;
}

const nanosPerUsd = 1_000_000_000n;

/** An amount as a form has it, in nano-USD; undefined if it is none. The same that the server reads: at most nine decimals. */
export function readUsd(text: string): bigint | undefined {
  const found = /^([-−]?)(\d{1,18})(?:\.(\d{1,9}))?$/.exec(text.trim());
  if (found === null) return undefined;
  const [, sign, whole = '0', fraction = ''] = found;
  const nanos = BigInt(whole) * nanosPerUsd + BigInt(fraction.padEnd(9, '0'));
  return sign === '' ? nanos : -nanos;
}
