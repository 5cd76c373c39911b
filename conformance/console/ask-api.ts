import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

import type { BrowserContext } from 'playwright-core';

import { eventually } from '../support/http.ts';
import type { Pages } from './open-pages.ts';

/** A request of the admin API with the session of a browser, from outside its pages. Fails unless it succeeds. */
export async function askApi(
  context: BrowserContext,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await context.request.fetch(`/api/v1${path}`, {
    method,
    headers: { 'sec-fetch-site': 'same-origin', ...(method === 'POST' && { 'idempotency-key': crypto.randomUUID() }), ...headers },
    ...(body !== undefined && { data: body }),
  });
  const text = await answer.text();
  assert.ok(answer.ok(), `${method} ${path} answered ${answer.status()}: ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
}

/** The follower of the ledger takes a minute for a hundred thousand calls on a busy machine. */
const followedMs = 240_000;
const pauseMs = 250;

/** Waits until the list of calls has all calls of the books. */
export async function untilListed(context: BrowserContext): Promise<void> {
  await eventually(
    async () => {
      // A session that asks without a pause is refused.
      await setTimeout(pauseMs);
      return await askApi(context, 'GET', '/calls?from=2020-01-01T00:00:00Z&limit=1');
    },
    // Nothing is pending either before the gateway has noticed what another process booked.
    ({ items, pending_calls: pending }) => pending === 0 && (items as readonly unknown[]).length > 0,
    followedMs,
  );
}

/** Signs the operator of a browser out of its pages, and another person in, whom the operator makes. */
export async function signInAs(
  { page, context }: Pick<Pages, 'page' | 'context'>,
  consoleUrl: string,
  person: { readonly name: string; readonly role: string; readonly users?: readonly string[] },
): Promise<void> {
  await askApi(context, 'PUT', '/session/password', { password: 'a long enough passphrase' });
  const made = await askApi(context, 'POST', '/people', person);
  const { url } = await askApi(context, 'POST', `/people/${String(made['id'])}/link`);
  // The page asks no more questions, and the link is opened rather than a fragment of the same page changed.
  await page.goto('about:blank');
  await context.clearCookies();
  await page.goto(String(url).replace(/^https?:\/\/[^/]+/, consoleUrl));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}
