import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { askApi, signInAs } from './ask-api.ts';
import { tabTo } from './by-keyboard.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, findViolations, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();
const model = 'claude-sonnet-4-5';
const secret = 'sk-published-0123456789abcdef-last';
const target = `simulated-anthropic/${model}`;
const modelList = { object: 'list', data: [{ id: 'house-model', object: 'model' }] };
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'house-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

describe('upstreams in the console', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  const opened = new AsyncDisposableStack();
  /** What the added server was sent, and the key that it takes at present. */
  const asked: (string | undefined)[] = [];
  let accepted = secret;

  before(async () => {
    weir = opened.use(await serveConsole());
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await pages.page.goto(weir.consoleLink);
    await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await callModel(), 200);
  });
  after(() => opened.disposeAsync());

  async function callHouse(): Promise<number> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'house-model', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  async function callModel(): Promise<number> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }
  const answers = (status: number) => eventually(callModel, (found) => found === status);
  const row = () => pages.page.getByRole('row').filter({ hasText: model });

  test('journey 10: a target that is taken out says until when, and its calls are refused until it is put back', async () => {
    const { page } = pages;
    await page.goto('/upstreams');
    await page.getByText('Vendors are simulated').waitFor();
    await row().getByText('healthy').waitFor();
    await row().getByRole('button', { name: 'Take out' }).click();
    const dialog = page.getByRole('dialog', { name: `Take ${target} out of use` });
    await dialog.getByText(`no other target, and calls are refused with 503 until then: ${model}`).waitFor();
    await dialog.getByLabel('Reason').fill('maintenance');
    await dialog.getByText('The same without this page').click();
    assert.match(
      (await dialog.getByLabel('Command', { exact: true }).textContent()) ?? '',
      /^weir targets out simulated-anthropic\/\S+ --until 20\S+ --reason maintenance$/,
    );
    await dialog.getByRole('button', { name: 'Take it out' }).click();
    await row().getByText('taken out').waitFor();
    await answers(503);
    await page.goto('/upstreams?state=out');
    await row().getByRole('button', { name: 'Put back' }).click();
    const back = page.getByRole('dialog', { name: `Put ${target} back into use` });
    await back.getByText('maintenance').waitFor();
    await back.getByRole('button', { name: 'Put it back' }).click();
    await page.getByText('No target fits.').waitFor();
    await answers(200);
    pages.assertQuiet();
  });

  test('an operator whose change comes second is shown the change that came first', async () => {
    const { page, context } = pages;
    await page.goto('/upstreams');
    await row().getByRole('button', { name: 'Take out' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('no other target').waitFor();
    await dialog.getByLabel('Reason').fill('mine');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const path = `/targets/${encodeURIComponent(target)}/override`;
    await askApi(context, 'PUT', path, { state: 'out', until, reason: 'of the other one' }, { 'if-match': '*' });
    await dialog.getByRole('button', { name: 'Take it out' }).click();
    await dialog.getByText('The object has changed.').waitFor();
    await dialog.getByText('of the other one').waitFor();
    await dialog.getByRole('button', { name: 'Take it out' }).click();
    await dialog.waitFor({ state: 'detached' });
    await askApi(context, 'DELETE', path, undefined, { 'if-match': '*' });
    // The browser itself writes the refusal that this test provokes.
    pages.assertQuiet(/status of 412/);
  });

  test('the doctor checks an upstream live, and its result is kept at its address', async () => {
    const { page } = pages;
    await page.goto('/upstreams');
    await page.getByRole('link', { name: 'simulated-anthropic' }).first().click();
    await page.getByRole('heading', { name: 'simulated-anthropic', level: 1 }).waitFor();
    await page.getByRole('cell', { name: 'simulated vendors' }).first().waitFor();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('✓ Healthy').waitFor();
    const cells = page.getByRole('row').filter({ hasText: 'Messages' }).getByRole('cell');
    assert.equal(await cells.filter({ hasText: 'good' }).count(), 14);
    await page.getByText('TCP').waitFor();
    const shared = page.url();
    assert.match(shared, /check=op_/);
    await page.goto(shared);
    await page.getByText('✓ Healthy').waitFor();
    pages.assertQuiet();
  });

  test('no page has a barrier', async () => {
    for (const path of [
      '/upstreams',
      '/upstreams?state=failing',
      `${new URL(pages.page.url()).pathname}${new URL(pages.page.url()).search}`,
    ])
      await assertNoBarrier(pages, weir.consoleUrl, path);
  });

  test('a server is added with its key, checked, called without a restart, and its models without a price are named', async () => {
    const { page } = pages;
    const server = createServer((request, response) => {
      asked.push(request.headers.authorization);
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const isAsked = text === '' || Array.isArray((JSON.parse(text) as { readonly messages?: unknown }).messages);
        const isKnown = request.headers.authorization === `Bearer ${accepted}`;
        const refusal = { error: { message: 'the key is not valid', type: 'invalid_request_error', code: 'invalid_api_key' } };
        const body = isKnown ? (request.method === 'GET' ? modelList : completion) : refusal;
        const status = isKnown ? (isAsked ? 200 : 400) : 401;
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(isAsked ? body : refusal));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.defer(() => void server.close());
    opened.defer(() => server.closeAllConnections());
    await page.goto('/upstreams');
    await page.getByRole('button', { name: 'Add a vendor key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add an upstream' });
    await dialog.getByLabel('Vendor or server').selectOption('vllm');
    await dialog.getByLabel('Name').fill('house');
    const publish = dialog.getByRole('button', { name: /^Publish/ });
    assert.equal(await publish.getAttribute('aria-disabled'), 'true', 'it has no address yet');
    await dialog.getByLabel('Address').fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    await dialog.getByLabel('Key').fill(`${secret}-mistyped`);
    await dialog.getByRole('button', { name: 'Check', exact: true }).click();
    await dialog.getByText('✗ Not healthy').waitFor();
    await dialog.getByText('the key is not valid').waitFor();
    assert.equal(await publish.textContent(), 'Publish all the same');
    assert.deepEqual(await findViolations(page), []);
    await dialog.getByLabel('Key').fill(secret);
    assert.equal(await publish.textContent(), 'Publish without a check', 'the check was about another key');
    assert.ok(!(await dialog.getByLabel('Command', { exact: true }).textContent())?.includes(secret), 'the key is in no line to copy');
    await dialog.getByLabel('Key').press('Enter');
    await dialog.getByText('✓ Healthy').waitFor();
    await dialog.getByText('no price for what it lists: house-model').waitFor();
    await publish.click();
    await dialog.getByLabel(`This model may lose the last target: ${model}`).check();
    await publish.click();
    await page.getByRole('heading', { name: 'house', level: 1 }).waitFor();
    await page.getByText('1 models are listed').waitFor();
    await page.getByRole('cell', { name: 'set, ends in last' }).waitFor();
    await page.getByText('A model has no price: calls are booked at zero.').waitFor();
    await page.getByRole('row').filter({ hasText: 'house-model' }).first().waitFor();
    assert.ok(asked.includes(`Bearer ${secret}`));
    assert.ok(!(await page.content()).includes(secret));
    pages.assertQuiet(/status of (404|409)|no upstream of this name/);
  });

  test('journey 9: a key that the upstream refuses needs attention, is replaced without a restart, and calls are answered again, by keyboard alone', async () => {
    const { page } = pages;
    await eventually(callHouse, (status) => status === 200);
    accepted = 'sk-published-0123456789abcdef-next';
    await eventually(callHouse, (status) => status !== 200);
    await eventually(
      async () => {
        await page.goto('/');
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
        return await page.getByRole('link', { name: /upstream house fail: it refuses the credential/ }).count();
      },
      (count) => count > 0,
      60_000,
    );
    await tabTo(page, /upstream house fail: it refuses the credential/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'house', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Check now' }).waitFor();
    await tabTo(page, /^Check now$/);
    await page.keyboard.press('Enter');
    await page
      .getByText(/the key is not valid|refuse/i)
      .first()
      .waitFor();
    await tabTo(page, /^New key …$/);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New key of house' });
    await dialog.getByLabel('Key', { exact: true }).waitFor();
    // The dialog begins with its field.
    if (!(await dialog.getByLabel('Key', { exact: true }).and(page.locator(':focus')).isVisible())) await tabTo(page, /^Key/);
    await page.keyboard.type(accepted);
    await tabTo(page, /^The same without this page$/);
    await page.keyboard.press('Enter');
    assert.ok(!(await dialog.textContent())?.includes(accepted), 'the key is in no line to copy');
    await page.keyboard.press('Shift+Tab');
    await tabTo(page, /^Check$/);
    await page.keyboard.press('Enter');
    await dialog.getByText('✓ Healthy').waitFor();
    await tabTo(page, /^Publish the key$/);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'set, ends in next' }).waitFor();
    await eventually(callHouse, (status) => status === 200, 60_000);
    pages.assertQuiet(/status of (404|409)|no upstream of this name/);
  });

  test('a viewer sees health and settings, and no action', async () => {
    const { page } = pages;
    await signInAs(pages, weir.consoleUrl, { name: 'Vic', role: 'viewer' });
    await page.goto('/upstreams');
    await page.getByRole('link', { name: 'house' }).first().waitFor();
    for (const name of ['Take out', 'Add an upstream']) assert.equal(await page.getByRole('button', { name }).count(), 0);
    await page.goto('/upstreams/house');
    await page.getByText('Your role does not have the permission upstreams:write.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Check now' }).count(), 0);
    await page.goto('/upstreams/nobody');
    await page.getByRole('alert').getByText('There is no such object.').waitFor();
    pages.assertQuiet(/status of 404|no upstream of this name/);
  });
});
