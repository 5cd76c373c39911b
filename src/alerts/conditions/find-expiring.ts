import type { AccountsStore } from '../../accounts/accounts-store.ts';
import { isPlaygroundKey } from '../../accounts/people/playground-key-name.ts';
import type { Finding } from '../alert.ts';
import type { AlertThresholds, Condition } from './condition.ts';

const dayMs = 24 * 3_600_000;
const minute = 60_000;
/** An expired key is a problem for this time. After it, nobody seems to miss the key. */
const missedMs = 7 * dayMs;

type Reader = Pick<AccountsStore, 'listUsers' | 'listLimitedApiKeys' | 'listBillingTokens'>;
type Expiring = { readonly subject: string; readonly name: string; readonly expiresAtMs: number; readonly action: string };

/** Finds keys, users and billing tokens that expire soon or have expired. Keys of the playground do so every day. */
export function createExpiryCondition(store: Reader, thresholds: () => Pick<AlertThresholds, 'expiryDays'>): Condition {
  return {
    rules: ['key_expiring'],
    everyMs: minute,
    find: async ({ nowMs }) => (await listExpiring(store)).flatMap((each) => judge(each, nowMs, thresholds().expiryDays) ?? []),
  };
}

async function listExpiring(store: Reader): Promise<readonly Expiring[]> {
  const [users, keys, tokens] = [await store.listUsers(), await store.listLimitedApiKeys(), await store.listBillingTokens()];
  return [
    ...users.map(({ name, limits }) => ({
      subject: `user:${name}`,
      name: `User ${name}`,
      expiresAtMs: limits?.expiresAtMs,
      action: `Give it more time with weir users limit ${JSON.stringify(name)} --expires <time>.`,
    })),
    ...keys
      .filter((key) => key.disabledAtMs === undefined && !isPlaygroundKey(key))
      .map(({ id, name, userName, limits }) => ({
        subject: `key:${id}`,
        name: `Key ${userName}/${name}`,
        expiresAtMs: limits?.expiresAtMs,
        action: `Give it more time with weir keys update ${id} --expires <time>, or make a new key with weir keys create.`,
      })),
    ...tokens.map(({ id, name, expiresAtMs }) => ({
      subject: `token:${id}`,
      name: `Billing token ${name}`,
      expiresAtMs,
      action: 'Create a new token with weir tokens create.',
    })),
  ].flatMap(({ expiresAtMs, ...each }) => (expiresAtMs === undefined ? [] : [{ ...each, expiresAtMs }]));
}

function judge({ subject, name, expiresAtMs, action }: Expiring, nowMs: number, days: readonly number[]): Finding | undefined {
  const leftMs = expiresAtMs - nowMs;
  if (leftMs <= -missedMs) return undefined;
  const reached = days.findLastIndex((most) => leftMs <= most * dayMs);
  const hasExpired = leftMs <= 0;
  if (!hasExpired && reached === -1) return undefined;
  const until = `${new Date(expiresAtMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    rule: 'key_expiring',
    subject,
    period: '',
    level: hasExpired ? days.length + 1 : reached + 1,
    threshold: hasExpired ? 0 : (days[reached] ?? 0),
    basis: String(expiresAtMs),
    // The end of such an alert is not news: the key was renewed, deleted, or is no longer missed.
    severity: 'info',
    summary: hasExpired ? `${name} expired at ${until}: it is refused.` : `${name} expires at ${until}.`,
    action,
  };
}
