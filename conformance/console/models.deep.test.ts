import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { askApi, signInAs } from './ask-api.ts';
import { assertNoBarrier, skipPages } from './open-pages.ts';
import { serveSuite } from './serve-suite.ts';

const model = 'claude-sonnet-4-5';
const target = `simulated-anthropic/${model}`;

describe('models in the console', { skip: skipPages }, () => {
  const suite = serveSuite(({ pages }) => askApi(pages.context, 'POST', '/keys', { user: 'nina', name: 'probe' }));

  test('a call is explained and tested with the rights of a key, and its costs are in the list afterwards', async () => {
    const { page } = suite.pages;
    await page.goto(`/models?model=${model}`);
    const row = page.getByRole('row').filter({ hasText: model });
    await row.getByText('$3 in').waitFor();
    await row.getByRole('img', { name: `${target} 100 %` }).waitFor();
    await row.getByRole('link', { name: model }).click();
    await page.getByRole('heading', { name: model, level: 1 }).waitFor();
    await page.getByText('0 calls').waitFor();
    await page.getByLabel('Interface').selectOption('openai-responses');
    await page.getByLabel('With a tool').check();
    await page.getByLabel('Key', { exact: true }).fill('nina/probe');
    await page.getByRole('button', { name: 'Explain' }).click();
    const planned = page.getByRole('table', { name: 'Targets in the order of attempts' });
    await planned.getByRole('cell', { name: 'translated' }).waitFor();
    await page.getByText('Nothing limits the payer.').waitFor();
    assert.match(page.url(), /as=openai-responses/);
    await page.getByRole('button', { name: 'Test now' }).click();
    await page.getByText('Ended: 4 of 4 answered').waitFor();
    const tested = page.getByRole('table', { name: 'Calls of the test' });
    assert.equal(await tested.getByRole('link', { name: 'receipt' }).count(), 4);
    assert.match(page.url(), /test=op_/);
    await eventually(
      async () => {
        await page.goto(`/models?model=${model}`);
        return await row.textContent();
      },
      (text) => text?.includes('$0.0') === true,
    );
    suite.pages.assertQuiet();
  });

  test('a target that is out of use is left out with the reason, and the refusal is that of a client', async () => {
    const { page, context } = suite.pages;
    const path = `/targets/${encodeURIComponent(target)}/override`;
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await askApi(context, 'PUT', path, { state: 'out', until, reason: 'maintenance' }, { 'if-match': '*' });
    await page.goto(`/models/${model}`);
    const explain = page.getByRole('button', { name: 'Explain' });
    await eventually(
      async () => {
        await explain.click();
        await page.getByText(/Costs|Refused as/).waitFor();
        return await page.getByText('Refused as targets_taken_out').count();
      },
      (count) => count === 1,
    );
    await page.getByText(/took it out of use until .*: maintenance/).waitFor();
    await askApi(context, 'DELETE', path, undefined, { 'if-match': '*' });
    suite.pages.assertQuiet();
  });

  test('no page has a barrier', async () => {
    for (const path of ['/models', '/models?model=nothing-like-it', `/models/${model}`])
      await assertNoBarrier(suite.pages, suite.weir.consoleUrl, path);
  });

  test('a viewer explains, but cannot test; a name that no gateway has says so', async () => {
    const { page } = suite.pages;
    await signInAs(suite.pages, suite.weir.consoleUrl, { name: 'Vera', role: 'viewer' });
    await page.goto(`/models/${model}`);
    await page.getByText('Your role does not have the permission upstreams:write.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Test now' }).count(), 0);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText(/^Costs /).waitFor();
    await page.goto('/models/no-such-model');
    await page.getByText('There is no such object.').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('Refused as model_not_found').waitFor();
    suite.pages.assertQuiet(/status of 404/);
  });
});
