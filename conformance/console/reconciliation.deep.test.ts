import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openAiPage, openAiResult } from '../../src/billing/reconciliation/testing/reconciliation-kit.ts';
import { type ConsoleClient, signInByLink } from '../admin/console-client.ts';
import { eventually } from '../support/http.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';
import { linkFor } from './sign-in-as.ts';

const chromiumPath = findChromium();
const model = 'gpt-5-mini-2025-08-07';

describe('reconciliation in the console', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  let operator: ConsoleClient;
  const calls: { readonly id: string; readonly output: number; readonly input: number }[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'weir-console-reconcile-'));
  const today = new Date().toISOString().slice(0, 10);
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    const { secret } = (await operator.send('POST', '/api/v1/keys', { user: 'compared-carl', name: 'app' })).body;
    for (const content of ['hello', 'a longer question than the one before it']) {
      const response = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] }),
      });
      assert.equal(response.status, 200);
      const { usage } = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
      const id = response.headers.get('x-weir-request-id') ?? '';
      calls.push({ id, input: usage.prompt_tokens, output: usage.completion_tokens });
    }
    await eventually(
      async () => (await operator.send('GET', '/api/v1/calls')).body['items'] as unknown[],
      ({ length }) => length === calls.length,
    );
    const link = await linkFor(operator, 'Fiona', 'finance');
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await pages.page.goto(link);
    await pages.page.getByRole('link', { name: 'Reconciliation' }).waitFor();
  });
  after(async () => {
    await opened.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An export of usage with the first call alone, so that the second one is the difference. */
  function writeExport(name: string): string {
    const [first = { input: 0, output: 0 }] = calls;
    const counts = {
      input_tokens: first.input,
      input_cached_tokens: 0,
      input_cache_write_tokens: 0,
      input_uncached_tokens: first.input,
      output_tokens: first.output,
    };
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(openAiPage(today, [openAiResult({ ...counts, model, num_model_requests: 1 })])));
    return path;
  }

  test('journey 13: an export with one planted difference leads to its call, and is accepted with a note', async () => {
    const { page } = pages;
    await page.goto('/reconciliation?new=1');
    await page.getByLabel(/Drop the export here/).setInputFiles(writeExport('usage.json'));
    await page.getByText('usage.json, 1 KiB').waitFor();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('usage of openai, days of UTC').waitFor();
    const requests = page.getByRole('row').filter({ hasText: 'requests' });
    await requests.getByRole('cell', { name: '\u22121', exact: true }).waitFor();
    await requests.getByRole('link').click();
    const marked = page.getByRole('complementary', { name: 'Calls of the cell' }).getByRole('row').filter({ hasText: 'is the difference' });
    await marked.waitFor();
    assert.match(page.url(), /cell=/);
    await marked.getByRole('link').click();
    await page.getByRole('heading', { name: `Call ${calls[1]?.id ?? ''}` }).waitFor();
    await page.goBack();
    await marked.waitFor();

    await page.getByRole('button', { name: 'Accept …' }).click();
    await page.getByLabel('Note', { exact: true }).fill('credit note 77');
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    // The page has its new state a moment before the dialog closes, and until then the note is in both.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('differs, accepted').waitFor();
    await page.getByText('credit note 77').waitFor();
    pages.assertQuiet();
  });

  test('the file of the comparison has the rows of the screen, and those that are equal', async () => {
    const { page } = pages;
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.equal(lines[0], 'day,model,class,ours,theirs,difference,over_tolerance,likely_causes');
    assert.ok(
      lines.some((line) => line.startsWith(`${today},${model},requests,2,1,-1,true`)),
      lines.join('\n'),
    );
    pages.assertQuiet();
  });

  test('the month shows for each day whether it agrees, and leads to its comparison', async () => {
    const { page } = pages;
    await page.goto(`/reconciliation?month=${today.slice(0, 7)}`);
    const day = page.getByRole('table', { name: 'openai' }).getByRole('link', { name: `${Number(today.slice(8))} accepted` });
    await day.click();
    await page.waitForURL(new RegExp(`/reconciliation/rec_\\w+\\?day=${today}`));
    await page.getByRole('heading', { name: `On ${today}, by model and class` }).waitFor();
    pages.assertQuiet();
  });

  test('a note of somebody else is shown before it is replaced', async () => {
    const { page } = pages;
    const id = /rec_\w+/.exec(page.url())?.[0] ?? '';
    await page.getByRole('button', { name: 'Note …' }).click();
    await page.getByLabel('Note', { exact: true }).fill('mine');
    const other = await operator.send('PATCH', `/api/v1/reconciliations/${id}`, { note: 'theirs' }, { 'if-match': '*' });
    assert.equal(other.status, 200, other.text);
    await page.getByRole('button', { name: 'Keep the note' }).click();
    await page.getByText('Somebody else changed it meanwhile').waitFor();
    await page.getByRole('button', { name: 'Go on all the same' }).click();
    await page.getByRole('button', { name: 'Keep the note' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await operator.send('GET', `/api/v1/reconciliations/${id}`)).body['note'], 'mine');
    pages.assertQuiet(/412/);
  });

  test('a file that is not an export is refused with its place, and nothing is kept', async () => {
    const { page } = pages;
    const path = join(folder, 'broken.json');
    writeFileSync(path, '{"object": "page",\n "data": [');
    await page.goto('/reconciliation?new=1');
    await page.getByLabel(/Drop the export here/).setInputFiles(path);
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByText(/line 2/)
      .first()
      .waitFor();
    const list = await operator.send('GET', '/api/v1/reconciliations');
    assert.equal((list.body['items'] as unknown[]).length, 1);
    pages.assertQuiet(/400/);
  });

  test('no page of reconciliation has a barrier', async () => {
    const [{ id } = { id: '' }] = (await operator.send('GET', '/api/v1/reconciliations')).body['items'] as { id: string }[];
    for (const path of [
      '/reconciliation',
      '/reconciliation?new=1',
      `/reconciliation/${id}?all=1&cell=${encodeURIComponent(`${today} ${model}`)}`,
    ])
      await assertNoBarrier(pages, weir.consoleUrl, path);
  });
});
