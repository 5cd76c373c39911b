import { askApi, untilListed } from '../ask-api.ts';
import type { Pages } from '../open-pages.ts';
import { openStore, type ServedConsole } from '../serve-console.ts';
import { oddCalls, type OddKey, oddUsers } from './odd-ledger.ts';

/** The most that a limit and a payment may be: eighteen digits of nano-dollars. */
const largeUsd = '123456789.987654321';
const batch = 500;

/** How much a console has: nothing, one of each, a dozen, or a hundred thousand calls. */
export const sizes = [0, 1, 12, 100_000] as const;
export type Size = (typeof sizes)[number];

/**
 * Fills a console with as many users, keys and calls: users and keys at most a dozen.
 * @returns the keys, in the order of the users
 */
export async function makeState(weir: ServedConsole, { context }: Pick<Pages, 'context'>, size: Size): Promise<readonly OddKey[]> {
  const api = (method: string, path: string, body?: unknown) => askApi(context, method, path, body);
  const keys: OddKey[] = [];
  // Other people may be made by somebody with a password.
  await api('PUT', '/session/password', { password: 'a long enough passphrase' });
  for (const [index, user] of oddUsers.slice(0, size).entries()) {
    const team = user;
    await api('POST', '/teams', { name: team, limits: { spend_per_month_usd: largeUsd } });
    await api('POST', '/users', { name: user, team, prepaid: index % 2 === 1, limits: { spend_per_month_usd: largeUsd } });
    const { id } = await api('POST', '/keys', {
      user,
      name: user,
      limits: { spend_per_day_usd: largeUsd, requests_per_minute: 1_000_000 },
    });
    keys.push({ user, name: user, id: String(id) });
    await api('POST', `/users/${encodeURIComponent(user)}/transactions`, {
      kind: 'top_up',
      usd: largeUsd,
      reference: `invoice-${index}`,
      note: user,
    });
    await api('POST', '/people', { name: user, role: 'owner', users: [user] });
  }
  if (size > 0) await refuse(weir);
  const calls = oddCalls(keys, Date.now(), size);
  const store = await openStore(weir);
  try {
    for (let from = 0; from < calls.length; from += batch) await store.appendEntries(calls.slice(from, from + batch));
  } finally {
    await store.close();
  }
  if (calls.length > 0) await untilListed(context);
  return keys;
}

/** Makes rows of refused requests. */
async function refuse({ gatewayUrl, apiKey }: ServedConsole): Promise<void> {
  for (const model of ['no-such-model', 'x'.repeat(200)]) {
    const answer = await fetch(`${gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await answer.arrayBuffer();
  }
}
