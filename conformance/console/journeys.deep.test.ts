import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { Page } from 'playwright-core';
import readXlsxFile from 'read-excel-file/node';

import { readSpan } from '../../console/src/components/span.ts';
import { entry } from '../../src/billing/journal/testing/call-kit.ts';
import { type ConsoleClient, openBrowser, signInByLink } from '../admin/console-client.ts';
import { type LoopbackProvider, startLoopbackProvider } from '../people/oidc-provider-on-loopback.ts';
import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { goTo, tabTo, waitForLetters } from './by-keyboard.ts';
import { findChromium } from './find-chromium.ts';
import { openPages, type Pages } from './open-pages.ts';
import { openStore, type ServedConsole, serveConsole } from './serve-console.ts';
import { linkFor } from './sign-in-as.ts';

const chromiumPath = findChromium();
const password = 'a long enough passphrase';
/** What a browser writes about requests that are refused on purpose. */
const refused = /status of 4\d\d/;

/** An exact amount of the page, such as `$4.00000001`, in nano-USD. */
function nanosOf(text: string): bigint {
  const [, whole = '', part = ''] = /^\$(\d+)\.?(\d*)$/.exec(text) ?? assert.fail(text);
  return BigInt(whole + part.padEnd(9, '0'));
}

/** The sum of each group of an export of usage, by the name that the page has for it. */
function sumsOf(head: readonly string[], lines: readonly (readonly string[])[]): ReadonlyMap<string, bigint> {
  const [nanos = 0, kind = 0, ...names] = ['amount_nano_usd', 'group', 'model', 'key_user', 'key'].map((name) => head.indexOf(name));
  const sums = new Map<string, bigint>();
  for (const line of lines) {
    const amount = BigInt(line[nanos] ?? assert.fail(head.join(' ')));
    const group = names.map((place) => line[place] ?? '').join(' › ');
    if (line[kind] === 'series') sums.set(group, (sums.get(group) ?? 0n) + amount);
  }
  return sums;
}

/** Saves a file as a person does. @returns where it is */
async function save(page: Page, act: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return await download.path();
}

describe('journeys of operators', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let provider: LoopbackProvider;
  let pages: Pages;
  let operator: ConsoleClient;
  const key = { id: '', secret: '' };
  const opened = new AsyncDisposableStack();

  before(async () => {
    provider = await startLoopbackProvider();
    opened.defer(() => provider.close());
    const { issuer, clientId, clientSecret } = provider;
    const oidc = { issuer, clientId, clientSecret, roles: { claim: 'groups', map: { readers: 'viewer' } } };
    weir = opened.use(await serveConsole({ config: `console: ${JSON.stringify({ readContent: true, oidc })}\n` }));
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    const made = await operator.send('POST', '/api/v1/keys', { user: 'night-nora', name: 'app' });
    Object.assign(key, made.body);
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await shareSession();
  });
  after(() => opened.disposeAsync());

  /** The browser has the session of the operator, whose token changes with the password. */
  async function shareSession(): Promise<void> {
    const [name = '', value = ''] = operator.cookie().split('=');
    await pages.context.addCookies([{ name, value, url: weir.consoleUrl, sameSite: 'Strict', httpOnly: true }]);
  }

  async function call(content: string, secret = key.secret): Promise<{ readonly status: number; readonly id: string }> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-haiku-4-5', messages: [{ role: 'user', content }] }),
    });
    await answer.arrayBuffer();
    return { status: answer.status, id: answer.headers.get('x-weir-request-id') ?? '' };
  }
  const booked = (id: string) =>
    eventually(
      () => operator.send('GET', `/api/v1/calls/${id}`),
      ({ status }) => status === 200,
    );

  test('journey 3: a failed call is found by its id, with its attempts, and its receipt is verified, by keyboard alone', async () => {
    const { page } = pages;
    const failed = await call('Hello [[simulator fault=status;status=529]]');
    assert.ok(failed.status >= 500, String(failed.status));
    await booked(failed.id);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await waitForLetters(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
    await page.keyboard.insertText(failed.id);
    await page.getByRole('option', { name: failed.id }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Call ${failed.id}` }).waitFor();
    await page.getByText('✗').first().waitFor();
    await page.getByText('529').first().waitFor();
    const timeline = page.locator('section', { has: page.getByRole('heading', { name: 'Timeline' }) });
    for (const attempt of await timeline.getByRole('listitem').allInnerTexts()) assert.match(attempt, /✗[^]*529/, 'the last attempt too');
    await page.getByText('simulated-anthropic', { exact: false }).first().waitFor();
    await tabTo(page, /^Prices: verify/);
    await page.keyboard.press('Enter');
    await page.getByText('the stored prices give the same').waitFor();
    pages.assertQuiet();
  });

  test('journey 4: usage of last month by model and key in another zone, at 360 px: screen, CSV, workbook and receipts agree', async () => {
    const { page } = pages;
    const zone = 'Asia/Kathmandu';
    const { from, to } = readSpan({ r: 'lastMonth' }, zone, Date.now(), '24h');
    const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
    // The first and the last moment of the month in the zone belong to it, and the moments beside them do not.
    await bookAt([startMs - 1, startMs, startMs + 15 * 86_400_000, endMs - 1, endMs]);
    await eventually(
      () => operator.send('GET', '/api/v1/overview'),
      ({ body }) => body['pending_calls'] === 0,
    );
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto('/usage?r=lastMonth&by=model&and=key&tz=Asia%2FKathmandu');
    await page.getByText(`${zone} (UTC+05:45)`, { exact: false }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Total' }).waitFor();
    const shown = await page.evaluate<readonly (readonly [string, string])[]>(`[...document.querySelectorAll('tbody tr')].map((row) =>
      [row.cells[0].textContent, [...row.querySelectorAll('data')].at(-1).value])`);
    const onScreen = new Map(shown.map(([group, amount]) => [group, nanosOf(amount)]));
    assert.deepEqual(
      onScreen,
      new Map([
        ['month-model-b › night-nora › app', 4_000_000_010n],
        ['month-model-a › night-nora › app', 2_000_000_005n],
      ]),
    );
    await waitForLetters(page);
    const csv = readFileSync(await save(page, () => page.keyboard.press('e')), 'utf8').trim();
    const [head = [], ...lines] = csv.split(/\r?\n/).map((line) => line.split(','));
    assert.deepEqual(sumsOf(head, lines), onScreen, 'the groups of the file are those of the screen');
    const path = await save(page, async () => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('menuitem', { name: 'Workbook (XLSX)' }).click();
    });
    const [sheet] = await readXlsxFile(readFileSync(path));
    const [names = [], ...cells] = (sheet?.data ?? []).map((row) =>
      row.map((cell) => (cell instanceof Date ? cell.toISOString() : String(cell))),
    );
    assert.deepEqual(sumsOf(names, cells), onScreen, 'the groups of the workbook are those of the screen');
    const query = new URLSearchParams({ from, to, limit: '500' });
    const sumOfCalls = async (): Promise<bigint> => {
      const { items } = (await operator.send('GET', `/api/v1/calls?${query.toString()}`)).body as {
        items: { amount: { nano_usd: string } }[];
      };
      return items.reduce((before, { amount }) => before + BigInt(amount.nano_usd), 0n);
    };
    const sumOnScreen = [...onScreen.values()].reduce((before, amount) => before + amount, 0n);
    // The list of calls follows the ledger.
    assert.equal(await eventually(sumOfCalls, (sum) => sum >= sumOnScreen), sumOnScreen, 'and the calls of the month have the same sum');
    await page.setViewportSize({ width: 1440, height: 900 });
    pages.assertQuiet();
  });

  /** Books calls that were made long ago, as a gateway does: of two models in turn, each with its own amount. */
  async function bookAt(times: readonly number[]): Promise<void> {
    const store = await openStore(weir);
    await store.appendEntries(
      times.map((acceptedAtMs, index) => ({
        ...entry(`req_0month${index}`),
        acceptedAtMs,
        userName: 'night-nora',
        keyId: key.id,
        keyName: 'app',
        requestedModel: index % 2 === 0 ? 'month-model-a' : 'month-model-b',
        charge: { amountNanoUsd: 2_000_000_003n + BigInt(index), lines: [] },
      })),
    );
    await store.close();
  }

  test('journey 5: a key at its limit is shown so, gets more, and is rotated with an overlap; its old secret ends; by keyboard alone', async () => {
    const { page } = pages;
    const { body } = await operator.send('POST', '/api/v1/keys', { user: 'night-nora', name: 'tight', limits: { requests_per_minute: 2 } });
    const [id, first] = [String(body['id']), String(body['secret'])];
    for (const status of [200, 200, 429]) assert.equal((await call('Hello', first)).status, status);
    await page.goto(`/keys/${id}`);
    const standing = page.getByRole('list', { name: 'Standing of limits' });
    await standing.getByText('Key · requests a minute').waitFor();
    await standing.getByRole('meter', { name: /requests a minute/ }).waitFor();
    await tabTo(page, /^Limits$/);
    await page.keyboard.press('Enter');
    // The meter of the page has the same words in its name, and the dialog's code is loaded when it is first opened.
    await page.getByRole('dialog').getByLabel('Requests a minute').waitFor();
    await tabTo(page, /^Requests a minute/);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('500');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(
      () => call('Hello', first),
      ({ status }) => status === 200,
    );
    const rotate = async (end: string): Promise<string> => {
      await page.keyboard.press('r');
      const dialog = page.getByRole('dialog', { name: 'Rotate night-nora/tight' });
      await dialog.waitFor();
      await tabTo(page, /^The old secret ends/);
      await page.keyboard.type(end);
      await tabTo(page, /^Make a new secret/);
      await page.keyboard.press('Enter');
      const secret = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
      await tabTo(page, /I have stored it/);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      return secret;
    };
    const second = await rotate('in an hour');
    await page.getByText('Old secret works until').waitFor();
    for (const secret of [first, second])
      await eventually(
        () => call('Hello', secret),
        ({ status }) => status === 200,
      );
    const third = await rotate('at once');
    await eventually(
      () => call('Hello', second),
      ({ status }) => status === 401,
    );
    assert.equal((await call('Hello', third)).status, 200);
    pages.assertQuiet();
  });

  test('journey 16: a capture is audited, its owner sees it and the wires of the call, and it ends', async () => {
    const { page } = pages;
    await page.goto('/settings/captures');
    await page.getByRole('button', { name: 'New capture' }).click();
    await page.getByLabel('Id of the key').fill(key.id);
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('cell', { name: 'night-nora/app', exact: true }).waitFor();
    // A gateway takes the order within two seconds, and keeps a call a moment after its end.
    const id = await eventually(
      async () => {
        await call('What the wire says');
        const { items } = (await operator.send('GET', '/api/v1/captures')).body as { items?: { kept: { call_id: string }[] }[] };
        return items?.[0]?.kept[0]?.call_id;
      },
      (kept) => kept !== undefined,
    );
    await page.goto('/audit?action=captures.create');
    await page.getByRole('cell', { name: 'captures.create' }).waitFor();

    const owner = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await owner.page.goto(await linkFor(operator, 'Nora', 'owner', ['night-nora']));
    await shareSession();
    await owner.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await owner.page.goto('/settings/captures');
    await owner.page.getByRole('cell', { name: 'night-nora/app', exact: true }).waitFor();
    await owner.page.goto(`/calls/${id ?? ''}`);
    await owner.page.getByRole('button', { name: 'Show request and reply, if a capture kept them' }).click();
    await owner.page.getByLabel('Body', { exact: true }).getByText('What the wire says', { exact: false }).waitFor();
    await owner.page.getByRole('button', { name: '② Weir to upstream' }).click();
    await owner.page.getByText('POST /v1/messages').waitFor();
    owner.assertQuiet();

    await page.goto('/settings/captures');
    await page.getByRole('button', { name: 'Delete the capture of night-nora/app' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('Nothing is captured.').waitFor();
    await owner.page.reload();
    await owner.page.getByRole('button', { name: 'Show request and reply, if a capture kept them' }).click();
    await owner.page.getByText('The content of this call is not kept.').waitFor();
    owner.assertQuiet(refused);
    pages.assertQuiet();
  });

  test('journey 14: a person of the sign-in provider gets the mapped role, and without the role the session ends', async () => {
    const visitor = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    const { page } = visitor;
    const comeIn = async (): Promise<void> => {
      await page.goto('/sign-in');
      await page.getByRole('link', { name: `Continue with ${new URL(provider.issuer).host}` }).click();
    };
    provider.behaviour.claims = { sub: 'lea-1', preferred_username: 'lea', groups: ['readers'] };
    await comeIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /^lea viewer/ }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Playground' }).count(), 0);
    provider.behaviour.claims = { sub: 'lea-1', preferred_username: 'lea', groups: [] };
    await comeIn();
    await page
      .getByText(/no role|not.*role/i)
      .first()
      .waitFor();
    await page.goto('/keys');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    visitor.assertQuiet(refused);
  });

  test('journey 2: a password, a sign-out, too many wrong ones, and a link of the command line that is not limited by them', async () => {
    const { page } = pages;
    await page.goto('/settings');
    await page.getByRole('button', { name: /^(Set a|Change the) password$/ }).click();
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /account$/ }).click();
    await page.getByText('Sign out', { exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const signIn = async (secret: string): Promise<void> => {
      await page.getByLabel('Name', { exact: true }).fill('operator');
      await page.getByLabel('Password').fill(secret);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn(password);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.context().clearCookies();
    await page.goto('/sign-in');
    await signIn('a wrong passphrase');
    await page.getByRole('alert').waitFor();
    const stranger = openBrowser(weir.consoleUrl);
    for (let wrong = 0; wrong < 10; wrong += 1) await stranger.send('POST', '/api/v1/session', { name: 'operator', password: 'wrong' });
    await signIn(password);
    await page
      .getByRole('alert')
      .filter({ hasText: /too many|minute/i })
      .waitFor();
    const environment = {
      WEIR_DATA_DIR: weir.dataDirectory,
      WEIR_CONFIG: join(weir.dataDirectory, 'weir.yaml'),
      WEIR_CONSOLE_PORT: new URL(weir.consoleUrl).port,
    };
    const printed = await runCommand(['console', 'link'], environment);
    const link = /#in=\S+/.exec(printed.stdout)?.[0] ?? assert.fail(printed.stderr);
    await page.goto('about:blank');
    await page.goto(`/${link}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await goTo(page, 'k', 'Keys');
    pages.assertQuiet(refused);
  });
});
