import { join } from 'node:path';

import { loadShippedPriceBook } from '../../../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../src/billing/rating/price-book.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { type ConsoleClient, signInByLink } from '../../admin/console-client.ts';
import { serveWeir } from '../../support/serve-weir.ts';
import { openPages, type Pages } from '../open-pages.ts';
import { callsOfCompany, type CompanyKey, companyKeys } from './company.ts';
import { type Screenshot, screenshots } from './screenshots.ts';

const days = 45;
const followedWithinMs = 60_000;

/**
 * Takes the screenshots of README and guides from a real console (`npm run docs:screenshots`). Its calls are those of
 * an imagined company, booked as a gateway books them.
 * @param folder where the screenshots go
 * @returns names of the files
 */
export async function takeScreenshots(executablePath: string, folder: string): Promise<readonly string[]> {
  await using weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, monitor: false });
  const operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
  const keys = await makeKeys(operator);
  await bookCalls(join(weir.dataDirectory, 'weir.sqlite'), keys);
  await untilFollowed(operator);
  // As a gateway does within the first minute.
  await operator.send('POST', '/api/v1/credits/verifications');
  await using pages = await openPages(executablePath, weir.consoleUrl);
  const [name = '', value = ''] = operator.cookie().split('=');
  await pages.context.addCookies([{ name, value, url: weir.consoleUrl, sameSite: 'Strict', httpOnly: true }]);
  await pages.page.setViewportSize({ width: 1280, height: 800 });
  const taken: string[] = [];
  for (const screenshot of screenshots) taken.push(await take(pages, screenshot, weir.consoleUrl, folder));
  pages.assertQuiet();
  return taken;
}

async function makeKeys(operator: ConsoleClient): Promise<readonly CompanyKey[]> {
  const keys: CompanyKey[] = [];
  for (const { user, name } of companyKeys) {
    const limits = user === 'support' ? { spend_per_month_usd: '250' } : undefined;
    const { body, status, text } = await operator.send('POST', '/api/v1/keys', { user, name, ...(limits !== undefined && { limits }) });
    if (status !== 201) throw new Error(text);
    keys.push({ user, name, id: String(body['id']) });
  }
  return keys;
}

async function bookCalls(path: string, keys: readonly CompanyKey[]): Promise<void> {
  const calls = callsOfCompany(keys, createPriceBook({ book: loadShippedPriceBook() }), Date.now(), days);
  const store = await openSqliteStore({ path, callTimeoutMs: 60_000 });
  try {
    for (let from = 0; from < calls.length; from += 500) await store.appendEntries(calls.slice(from, from + 500));
  } finally {
    await store.close();
  }
}

/** Waits until the figures of the console have every call. */
async function untilFollowed(operator: ConsoleClient): Promise<void> {
  const endMs = Date.now() + followedWithinMs;
  while (Date.now() < endMs) {
    const { body } = await operator.send('GET', '/api/v1/overview');
    if (body['pending_calls'] === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`The calls were not followed within ${followedWithinMs} ms.`);
}

async function take({ page, context }: Pages, { name, path, theme, prepare }: Screenshot, url: string, folder: string): Promise<string> {
  await context.addCookies([{ name: 'weir_theme', value: theme, url }]);
  await page.goto(path);
  await prepare(page);
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  return `${name}.png`;
}
