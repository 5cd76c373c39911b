import { ask } from '../api/client.ts';
import { nanosOf } from '../format/money.ts';
import { createStore } from './create-store.ts';

/** Who pays for the calls, and how much at most. */
export type Payer = { readonly user: string; readonly mostUsd: string };

type PaidKey = Payer & { readonly keyId: string; readonly spent: bigint };

/** The key of the present payer; its secret is on the server. */
export const paidKey = createStore<PaidKey | undefined>(undefined);

/** Fewer than a session may have: other tabs of it make keys too. */
const keysKept = 12;

let pending: { readonly of: string; readonly key: Promise<PaidKey> } | undefined;

const nanosOfUsd = (usd: string): bigint => {
  const [whole = '0', fraction = ''] = usd.split('.', 2);
  return BigInt(whole || '0') * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
};

/** Whether a text is an amount that a key can be bounded by. */
export const isBound = (usd: string): boolean => /^(?:0|[1-9]\d{0,3})(?:\.\d{1,9})?$/.test(usd);

/**
 * The key of a payer: the present one, or one that this session has made with the same bound, or a new one.
 * @throws ApiProblem
 */
export async function keyFor(payer: Payer): Promise<PaidKey> {
  const of = `${payer.mostUsd} ${payer.user}`;
  const present = paidKey.get();
  if (present !== undefined && present.user === payer.user && present.mostUsd === payer.mostUsd) return present;
  // Two lanes that begin at once use one key.
  if (pending?.of !== of) {
    const key = findOrMake(payer);
    pending = { of, key };
    key.then(
      (made) => paidKey.change(() => made),
      () => {
        pending = undefined;
      },
    );
  }
  return await pending.key;
}

async function findOrMake({ user, mostUsd }: Payer): Promise<PaidKey> {
  const { items } = await ask('playground.keys', {});
  for (const { id } of items.filter((key) => key.user === user)) {
    const total = await totalOf(user, id);
    if (total?.limit === nanosOfUsd(mostUsd)) return { user, mostUsd, keyId: id, spent: total.spent };
  }
  // A session has few keys. The newest come first.
  const oldest = items.at(-1);
  if (oldest !== undefined && items.length >= keysKept) await ask('playground.end_key', { params: { id: oldest.id } });
  const { id } = await ask('playground.create_key', { body: { user, spend_total_usd: mostUsd } });
  return { user, mostUsd, keyId: id, spent: 0n };
}

async function totalOf(user: string, keyId: string): Promise<{ readonly limit: bigint; readonly spent: bigint } | undefined> {
  const { money } = await ask('standing.get', { query: { user, key_id: keyId } });
  const total = money.find(({ level, of }) => level === 'key' && of === 'total');
  return total?.limit == null || total.spent === null ? undefined : { limit: nanosOf(total.limit), spent: nanosOf(total.spent) };
}

/** Adds what a call was charged. */
export function addSpent(keyId: string, amount: bigint): void {
  paidKey.change((before) => (before?.keyId === keyId ? { ...before, spent: before.spent + amount } : before));
}

/** A key that the server does not know any more is made again. */
export function forgetKey(keyId: string): void {
  pending = undefined;
  paidKey.change((before) => (before?.keyId === keyId ? undefined : before));
}
