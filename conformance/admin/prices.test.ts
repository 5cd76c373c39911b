import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';

const today = (): string => new Date().toISOString().slice(0, 10);
const book = (input: string, model = 'claude-haiku-4-5') => ({
  version: 'our-contract',
  currency: 'USD',
  entries: [
    {
      vendor: 'anthropic',
      model,
      displayName: model,
      effectiveFrom: '2026-01-01',
      source: 'https://example.com/contract',
      checked: '2026-11-01',
      tiers: [{ inputAbove: 0, prices: { input, output: '10' } }],
    },
  ],
});
type Price = {
  readonly layer: string;
  readonly entry: { tiers: { prices: { input: string } }[] };
  readonly hides: { readonly layer: string }[];
};
type Problem = { readonly pointer: string; readonly detail: string };

describe('prices of the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let secret = '';
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' } });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    secret = String((await operator.send('POST', '/api/v1/keys', { user: 'petra', name: 'ci' })).body['secret']);
  });
  after(() => weir[Symbol.asyncDispose]());

  const errorsOf = ({ body }: ApiAnswer): Problem[] => body['errors'] as Problem[];
  const makeDraft = async (content: object): Promise<ApiAnswer> => {
    const made = await operator.send('POST', '/api/v1/price_drafts', { name: 'contract', ...content });
    assert.equal(made.status, 201, made.text);
    return made;
  };
  const publish = (id: unknown, seen: string, body: object = { from: today(), note: 'contract 118' }): Promise<ApiAnswer> =>
    operator.send('POST', `/api/v1/price_drafts/${String(id)}/publish`, body, { 'if-match': seen });
  /** Makes a call and returns its price version and amount. */
  async function callOnce(): Promise<{ readonly id: string; readonly version: string; readonly nanoUsd: bigint }> {
    const response = await fetch(`${weir.gatewayUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-haiku-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(response.status, 200, await response.text());
    const id = response.headers.get('x-weir-request-id') ?? '';
    for (let tries = 0; tries < 200; tries += 1) {
      const { status, body } = await operator.send('GET', `/api/v1/calls/${id}/receipt`);
      if (status === 200) {
        const { rows, total } = body as unknown as { rows: { price: { version: string } }[]; total: { nano_usd: string } };
        return { id, version: rows[0]?.price.version ?? '', nanoUsd: BigInt(total.nano_usd) };
      }
      await delay(50);
    }
    return assert.fail('the call was never booked');
  }

  test('a price list is read in a thread, and each problem comes back with its place', async () => {
    const wrong = await operator.send('POST', '/api/v1/price_drafts', { name: 'x', book: book('cheap') });
    assert.deepEqual([wrong.status, wrong.body['code']], [400, 'invalid_request']);
    assert.match(errorsOf(wrong)[0]?.pointer ?? '', /^\/book\/entries\/0\/tiers\/0\/prices\/input/);
    const yaml = await operator.send('POST', '/api/v1/price_drafts', { name: 'x', text: 'version: a\nversion: b\nentries: [' });
    assert.equal(yaml.status, 400, yaml.text);
    assert.match(errorsOf(yaml)[0]?.detail ?? '', /line 2/);
    for (const [body, what] of [
      [{ name: 'x' }, /exactly one/],
      [{ name: 'x', text: 'a', book: {} }, /exactly one/],
      [{ name: 'x', text: '{"a": {"litellm_provider": "none"}}' }, /cannot be used/],
      [
        { name: 'x', text: 'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]' },
        /cannot be/,
      ],
    ] as const) {
      const refused = await operator.send('POST', '/api/v1/price_drafts', body);
      assert.equal(refused.status, 400, refused.text);
      assert.match(String(refused.body['detail']), what);
    }
    const list = {
      'claude-haiku-4-5': { litellm_provider: 'anthropic', mode: 'chat', input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 },
    };
    const imported = await makeDraft({ text: JSON.stringify(list) });
    assert.equal(imported.body['format'], 'litellm');
    const { entries } = imported.body['book'] as { entries: { tiers: { prices: { input: string } }[] }[] };
    assert.equal(entries[0]?.tiers[0]?.prices.input, '2.5');
    // A list that is larger than other bodies may be.
    const large = await operator.send('POST', '/api/v1/price_drafts', { name: 'x', text: `# ${'x'.repeat(2_000_000)}` });
    assert.equal(large.status, 400, large.text.slice(0, 300));
    const tooLarge = await operator.send('POST', '/api/v1/price_drafts', { name: 'x', text: 'x'.repeat(9_000_000) });
    assert.deepEqual([tooLarge.status, tooLarge.body['code']], [413, 'body_too_large']);
    assert.match(String(tooLarge.body['detail']), /8388608/);
    assert.equal(
      (await operator.send('DELETE', `/api/v1/price_drafts/${String(imported.body['id'])}`, undefined, { 'if-match': '*' })).status,
      204,
    );
  });

  test('a draft is changed by its version, compared, staged over booked calls, and published once', async () => {
    const before = await callOnce();
    const made = await makeDraft({ book: book('3') });
    const id = String(made.body['id']);
    const etag = made.headers.get('etag') ?? '';
    const changed = await operator.send('PATCH', `/api/v1/price_drafts/${id}`, { note: 'dear', book: book('1000') }, { 'if-match': etag });
    assert.deepEqual([changed.status, changed.body['note']], [200, 'dear'], changed.text);
    const stale = await operator.send('PATCH', `/api/v1/price_drafts/${id}`, { name: 'y' }, { 'if-match': etag });
    assert.deepEqual([stale.status, stale.body['code']], [412, 'version_mismatch']);
    const listed = (await operator.send('GET', '/api/v1/price_drafts')).body['items'] as { id: string }[];
    assert.deepEqual(
      listed.map((draft) => draft.id),
      [id],
    );

    const diff = await operator.send('POST', `/api/v1/price_drafts/${id}/diff`, { base: 'in_force' });
    const changes = diff.body['changes'] as { entry: string; after: string | null }[];
    assert.ok(
      changes.some(({ entry, after: added }) => entry.startsWith('anthropic/claude-haiku-4-5@2026-01-01') && added !== null),
      diff.text,
    );
    assert.equal((await operator.send('POST', `/api/v1/price_drafts/${id}/diff`, { base: '9' })).status, 404);

    const started = await operator.send('POST', `/api/v1/price_drafts/${id}/stage`, { days: 1, by: 'user' });
    assert.equal(started.status, 202, started.text);
    let staged = started;
    for (let tries = 0; tries < 100 && staged.body['ended_at'] === null; tries += 1) {
      await delay(50);
      staged = await operator.send('GET', started.headers.get('location') ?? '');
    }
    assert.equal(staged.body['state'], 'done', staged.text);
    const { groups } = staged.body['result'] as {
      groups: { name: string; calls: number; booked_nano_usd: string; effect_nano_usd: string }[];
    };
    assert.deepEqual([groups[0]?.name, groups[0]?.calls, groups[0]?.booked_nano_usd], ['petra', 1, String(before.nanoUsd)]);
    assert.ok(BigInt(groups[0]?.effect_nano_usd ?? '0') > 0n);

    assert.equal((await operator.send('GET', '/api/v1/price_books')).headers.get('etag'), '"0"');
    assert.equal((await operator.send('POST', `/api/v1/price_drafts/${id}/publish`, { from: today() })).status, 428);
    const past = await publish(id, '"0"', { from: '2026-01-01' });
    assert.deepEqual([past.status, errorsOf(past)[0]?.pointer], [400, '/from']);
    const [one, two] = await Promise.all([publish(id, '"0"'), publish(id, '"0"')]);
    assert.deepEqual(
      [one.status, two.status].toSorted((left, right) => left - right),
      [201, 412],
      `${one.text} ${two.text}`,
    );
    const winner = one.status === 201 ? one : two;
    assert.deepEqual([winner.body['number'], winner.body['is_used'], winner.body['note']], [1, true, 'contract 118']);
    assert.equal((await publish(id, '"0"')).headers.get('etag'), '"1"');

    // A running gateway charges the new price within seconds, without a restart.
    let now = await callOnce();
    for (let tries = 0; tries < 60 && now.version === before.version; tries += 1) now = await callOnce();
    assert.equal(now.version, winner.body['price_version']);
    assert.ok(now.nanoUsd > 10n * before.nanoUsd, `${now.nanoUsd} ${before.nanoUsd}`);
    const version = await operator.send('GET', `/api/v1/price_versions/${encodeURIComponent(before.version)}`);
    assert.deepEqual([version.status, version.body['is_unchanged']], [200, true], version.text);
    const rows = await operator.send('GET', '/api/v1/audit?action=prices.publish');
    assert.equal((rows.body['items'] as { actor: string }[])[0]?.actor, 'person:operator');
  });

  test('the prices in force name their layer and what it hides', async () => {
    const answer = await operator.send('GET', '/api/v1/prices?vendor=anthropic&model=claude-haiku-4-5&limit=1');
    assert.equal(answer.status, 200, answer.text);
    const [price] = answer.body['items'] as Price[];
    assert.deepEqual([price?.layer, price?.entry.tiers[0]?.prices.input, price?.hides[0]?.layer], ['store-1', '1000', 'shipped']);
    assert.deepEqual(
      (answer.body['layers'] as { layer: string }[]).map(({ layer }) => layer),
      ['shipped', 'store-1'],
    );
    const first = await operator.send('GET', '/api/v1/prices?limit=3');
    const next = await operator.send('GET', `/api/v1/prices?limit=3&cursor=${String(first.body['next_cursor'])}`);
    assert.notDeepEqual(next.body['items'], first.body['items']);
    assert.equal((next.body['items'] as unknown[]).length, 3);
    const then = await operator.send('GET', '/api/v1/prices?vendor=anthropic&model=claude-haiku-4-5&at=2026-06-01');
    assert.equal((then.body['items'] as Price[])[0]?.entry.tiers[0]?.prices.input === '1000', false, 'earlier days keep their prices');
    assert.equal((await operator.send('GET', '/api/v1/prices?at=2026-02-30')).status, 400);
    const kept = await operator.send('GET', '/api/v1/price_books/1');
    assert.deepEqual([kept.status, kept.headers.get('etag')], [200, '"1"']);
    assert.equal((await operator.send('GET', '/api/v1/price_books/2')).status, 404);
  });

  test('a quote rates counts with the code that charges, in force and by a draft', async () => {
    const call = { vendor: 'anthropic', model: 'claude-haiku-4-5', usage: { input_tokens: 1000, output_tokens: 3 } };
    const quoted = await operator.send('POST', '/api/v1/prices/quote', call);
    assert.equal(quoted.status, 200, quoted.text);
    const {
      lines,
      amount,
      price_id: priceId,
    } = quoted.body as unknown as {
      readonly lines: { readonly meter: string; readonly unit_price_usd: string; readonly amount_usd: string }[];
      readonly amount: { readonly nano_usd: string };
      readonly price_id: string;
    };
    assert.match(priceId, /claude-haiku-4-5/);
    assert.deepEqual(
      lines.map((line) => [line.meter, line.unit_price_usd, line.amount_usd]),
      [
        ['input', '1000', '1'],
        ['output', '10', '0.00003'],
      ],
    );
    assert.equal(amount.nano_usd, '1000030000');
    const earlier = await operator.send('POST', '/api/v1/prices/quote', { ...call, day: '2026-06-01' });
    assert.ok(BigInt((earlier.body['amount'] as { nano_usd: string }).nano_usd) < 1_000_000_000n, 'an earlier day has its own price');
    const made = await makeDraft({ book: book('2') });
    const both = await operator.send('POST', `/api/v1/price_drafts/${String(made.body['id'])}/quote`, call);
    const amountOf = (name: string): string => (both.body[name] as { amount: { nano_usd: string } }).amount.nano_usd;
    assert.deepEqual([amountOf('in_force'), amountOf('draft')], ['1000030000', '2030000'], both.text);
    const unknown = await operator.send('POST', '/api/v1/prices/quote', { ...call, usage: { tokens: 1 } });
    assert.deepEqual([unknown.status, errorsOf(unknown)[0]?.pointer], [400, '/usage/tokens']);
    const unpriced = await operator.send('POST', '/api/v1/prices/quote', { ...call, model: 'no-such-model' });
    assert.deepEqual([unpriced.status, unpriced.body['price_id']], [200, null]);
    assert.equal((await operator.send('POST', '/api/v1/prices/quote', { ...call, day: '2026-02-30' })).status, 400);
    assert.equal((await operator.send('POST', '/api/v1/price_drafts/pd_none/quote', call)).status, 404);
  });
});
