import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { askApi, signInAs } from './ask-api.ts';
import { assertNoBarrier, openSignedIn, type Pages, skipPages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

describe('videos in the console', { skip: skipPages }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  const secrets: Record<string, string> = {};
  const opened = new AsyncDisposableStack();

  before(async () => {
    const config = 'console: { readContent: true }\n';
    weir = opened.use(await serveConsole({ config }));
    pages = opened.use(await openSignedIn(weir));
    for (const user of ['vera', 'walt']) {
      const limits = { media_bytes_max: 10_000_000 };
      secrets[user] = String((await askApi(pages.context, 'POST', '/keys', { user, name: 'film', limits }))['secret']);
    }
  });
  after(() => opened.disposeAsync());

  async function make(user: string, simulated: string): Promise<string> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/video/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets[user]}`, 'content-type': 'application/json', 'x-simulator-video': simulated },
      body: JSON.stringify({ model: 'vendor-imagine-video', prompt: 'a red zebra', duration: 1 }),
    });
    const { id } = (await answer.json()) as { id: string };
    assert.equal(answer.status, 200);
    return id;
  }
  const ended = (id: string) =>
    eventually(
      () => askApi(pages.context, 'GET', `/videos/${id}`),
      (video) => video['ended_at'] !== null,
      60_000,
    );
  const panel = () => pages.page.getByRole('complementary', { name: 'Video' });

  test('without videos, the page has a line that makes one', async () => {
    const { page } = pages;
    await page.goto('/videos');
    await page.getByText('No video was made yet.').waitFor();
    const line = (await page.getByLabel('Command', { exact: true }).textContent()) ?? '';
    const body = /-d '(.*)'/.exec(line)?.[1] ?? '';
    const answer = await fetch(`${weir.gatewayUrl}${new URL(/curl (\S+)/.exec(line)?.[1] ?? '').pathname}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets['walt']}`, 'content-type': 'application/json' },
      body,
    });
    assert.equal(answer.status, 200, await answer.text());
    await page.getByRole('button', { name: /walt/ }).waitFor();
    pages.assertQuiet();
  });

  test('a video proceeds by events, then plays in parts, and has its receipt', async () => {
    const { page, context } = pages;
    const id = await make('vera', 'ms=1500');
    await page.goto(`/videos?user=vera&video=${id}`);
    await panel().getByText('Charged').waitFor();
    await panel().getByText('completed').waitFor();
    await panel().getByText('recomputed here: the same').waitFor();
    const ranges: string[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/content')) ranges.push(`${response.status()} ${response.headers()['content-range'] ?? ''}`);
    });
    await page.evaluate<undefined>(`document.querySelector('video').load(); document.querySelector('video').preload = 'auto'; undefined`);
    await eventually(
      () => ranges,
      (seen) => seen.some((each) => each.startsWith('206 bytes 0-')),
    );
    const [download] = await Promise.all([page.waitForEvent('download'), panel().getByRole('link', { name: 'Save the file' }).click()]);
    const { file } = (await askApi(context, 'GET', `/videos/${id}`)) as { file: { bytes: number } };
    assert.equal((await stat(await download.path())).size, file.bytes);
    pages.assertQuiet();
  });

  test('first frames of others are read only when they are wanted, and each reading is audited', async () => {
    const { page, context } = pages;
    const reads = async () =>
      ((await askApi(context, 'GET', '/audit?action=videos.read_content&limit=500'))['items'] as readonly unknown[]).length;
    const before = await reads();
    await page.goto('/videos?phase=completed');
    await page.getByRole('button', { name: /completed.*vera/ }).waitFor();
    assert.equal(await reads(), before);
    await page.getByLabel('Show the first frames').check();
    await eventually(reads, (count) => count > before);
    await page.getByRole('heading', { name: 'Storage' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'vera' }).getByText('KiB').first().waitFor();
    pages.assertQuiet();
  });

  test('a video is deleted by an operator; one that somebody deleted before is said to be gone', async () => {
    const { page, context } = pages;
    const [one, other] = [await make('vera', 'ms=100'), await make('vera', 'ms=100')];
    await Promise.all([one, other].map(ended));
    await page.goto(`/videos?view=table&video=${one}`);
    await panel().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('Its receipt stays').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the video' }).click();
    await panel().waitFor({ state: 'detached' });
    await page.goto(`/videos?view=table&video=${other}`);
    await panel().getByRole('button', { name: 'Delete' }).click();
    await askApi(context, 'DELETE', `/videos/${other}`, undefined, { 'if-match': '*' });
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the video' }).click();
    await page.getByRole('dialog').getByText('There is no such object.').waitFor();
    // What the page still asks about the deleted video is refused too.
    await page.goto('about:blank');
    pages.assertQuiet(/status of 404/);
  });

  test('no page has a barrier', async () => {
    const id = await make('vera', 'ms=100');
    await ended(id);
    for (const path of [`/videos?video=${id}`, '/videos?view=table']) await assertNoBarrier(pages, weir.consoleUrl, path);
  });

  test('an owner sees the own videos with their first frames, and deletes nothing', async () => {
    const { page } = pages;
    await signInAs(pages, weir.consoleUrl, { name: 'Vera', role: 'owner', users: ['vera'] });
    await page.goto('/videos');
    await page
      .getByRole('button', { name: /completed.*vera/ })
      .first()
      .click();
    await panel().getByText('Charged').waitFor();
    assert.equal(await page.getByRole('button', { name: /walt/ }).count(), 0);
    assert.equal(await panel().getByRole('button', { name: 'Delete' }).count(), 0);
    pages.assertQuiet();
  });
});
