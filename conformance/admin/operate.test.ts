import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { createOperations, type Operations } from '../../src/control/operations/create-operations.ts';
import { createOperationRunner } from '../../src/control/operations/operation-runner.ts';
import { openDatabase } from '../../src/main/assembly/open-data-directory.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createIds } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/log.ts';
import type { Store } from '../../src/store/store.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';
import { openEvents } from './open-events.ts';

describe('running the gateway by the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let viewer: ConsoleClient;
  /** The database as another process sees it. */
  let store: Store;
  const opened = new AsyncDisposableStack();
  const configPath = join(mkdtempSync(join(tmpdir(), 'weir-operate-')), 'weir.yaml');
  const silent = createLogger({ level: 'silent', destination: { write: () => {} } });

  before(async () => {
    writeFileSync(configPath, 'timeouts:\n  idleMs: 50000\n');
    opened.defer(() => rmSync(dirname(configPath), { recursive: true }));
    weir = opened.use(await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0', WEIR_CONFIG: configPath }, monitor: false }));
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    viewer = await addPerson('viewer');
    store = await openDatabase(readEnvironment({ WEIR_DATA_DIR: weir.dataDirectory }));
    opened.defer(() => store.close());
  });
  after(() => opened.disposeAsync());

  async function addPerson(role: string, users: readonly string[] = []): Promise<ConsoleClient> {
    const person = await operator.send('POST', '/api/v1/people', {
      name: [role, ...users].join(' '),
      role,
      ...(role === 'owner' && { users }),
    });
    assert.equal(person.status, 201, person.text);
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    return await signInByLink(weir.consoleUrl, String(link.body['url']));
  }

  /** Repeats a reading until it fits, for at most 8 s. */
  async function eventually<Result>(read: () => Promise<Result>, fits: (result: Result) => boolean): Promise<Result> {
    for (let tries = 0; tries < 80; tries += 1) {
      const result = await read();
      if (fits(result)) return result;
      await delay(100);
    }
    return assert.fail(`it never became so: ${JSON.stringify(await read())}`);
  }
  const items = async (client: ConsoleClient, path: string) =>
    (await client.send('GET', path)).body['items'] as readonly Readonly<Record<string, unknown>>[];

  async function call(model: string, gatewayUrl = weir.gatewayUrl): Promise<Response> {
    return await fetch(`${gatewayUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }),
    });
  }

  describe('gateways and their targets', () => {
    const model = 'claude-sonnet-4-5';
    const target = `simulated-anthropic/${model}`;
    const path = `/api/v1/targets/${encodeURIComponent(target)}`;
    const out = () => ({ state: 'out', until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'maintenance' });

    test('the gateway reports its state, and its targets after a call', async () => {
      const [node] = await items(viewer, '/api/v1/nodes');
      assert.deepEqual([node?.['state'], node?.['program'], node?.['config_in_force']], ['running', 'start', true]);
      assert.equal((await call(model)).status, 200);
      const [seen] = await eventually(
        () => items(viewer, '/api/v1/targets'),
        (targets) => targets.length > 0,
      );
      assert.deepEqual([seen?.['id'], seen?.['state'], seen?.['override']], [target, 'healthy', null]);
      assert.equal((await viewer.send('GET', path)).body['model'], model);
      assert.equal((await viewer.send('GET', '/api/v1/targets/simulated-anthropic%2Fnone')).status, 404);
    });

    test('a target that is taken out gets no calls, and gets them when it is put back; both are audited', async () => {
      const changing = `${path}/override`;
      assert.equal((await viewer.send('PUT', changing, out(), { 'if-match': '*' })).body['code'], 'permission_required');
      assert.equal((await operator.send('PUT', changing, out())).body['code'], 'if_match_required');
      const late = { ...out(), until: '2020-01-01T00:00:00Z' };
      assert.equal((await operator.send('PUT', changing, late, { 'if-match': '*' })).body['code'], 'invalid_request');
      const unknown = await operator.send('PUT', '/api/v1/targets/nobody%2Fx/override', out(), { 'if-match': '*' });
      assert.equal(unknown.status, 404);
      const taken = await operator.send('PUT', changing, out(), { 'if-match': '*' });
      assert.equal(taken.status, 200, taken.text);
      const refused = await eventually(
        () => call(model),
        ({ status }) => status !== 200,
      );
      assert.deepEqual(
        [refused.status, ((await refused.json()) as { error: { message: string } }).error.message.includes('taken')],
        [503, true],
      );
      assert.equal((await call('claude-haiku-4-5')).status, 200);
      const listed = await items(viewer, '/api/v1/targets?state=out');
      assert.deepEqual(
        listed.map(({ id }) => id),
        [target],
      );
      assert.equal((await operator.send('DELETE', changing, undefined, { 'if-match': '"0"' })).status, 412);
      const etag = String(taken.headers.get('etag'));
      assert.equal((await operator.send('DELETE', changing, undefined, { 'if-match': etag })).status, 204);
      await eventually(
        () => call(model),
        ({ status }) => status === 200,
      );
      const audit = await items(operator, `/api/v1/audit?subject=${encodeURIComponent(`target:${target}`)}`);
      assert.deepEqual(
        audit.map(({ action, note }) => [action, note]),
        [
          ['targets.put_back', null],
          ['targets.take_out', 'maintenance'],
        ],
      );
    });

    test('models have their targets, interfaces and calls', async () => {
      const { status, body, text } = await viewer.send('GET', `/api/v1/models/${model}`);
      assert.equal(status, 200, text);
      const [first] = body['targets'] as { id: string; tier: number; share: number }[];
      assert.deepEqual([first?.id, first?.tier, first?.share, body['is_priced']], [target, 1, 1, true]);
      const ways = Object.fromEntries(
        (body['interfaces'] as { interface: string; way: string }[]).map((each) => [each.interface, each.way]),
      );
      assert.deepEqual([ways['anthropic-messages'], ways['openai-chat']], ['passes', 'translated']);
      assert.deepEqual(body['tools'], [
        { tool: 'web-search', run_by: 'vendor' },
        { tool: 'code-execution', run_by: 'vendor' },
        { tool: 'file-search', run_by: 'gateway' },
        { tool: 'url-context', run_by: 'vendor' },
      ]);
      const day = body['last_day'] as { calls: number; failed: number };
      assert.ok(day.calls >= 1 && Number.isInteger(day.failed));
      const prices = (body['targets'] as { prices: { meter: string; unit_price_usd: string; per: number }[] }[])[0]?.prices ?? [];
      assert.deepEqual(
        prices.find(({ meter }) => meter === 'output'),
        { meter: 'output', unit_price_usd: '15', per: 1_000_000 },
      );
      assert.ok(Array.isArray(body['other_names']) && !body['other_names'].includes(model));
      const listed = (await items(viewer, '/api/v1/models?limit=500')).find(({ name }) => name === model);
      // Earlier calls may be booked between the two answers.
      assert.ok(((listed?.['last_day'] as { calls: number } | undefined)?.calls ?? 0) >= day.calls);
      const names: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: ApiAnswer = await viewer.send('GET', `/api/v1/models?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
        names.push(...(page.body['items'] as { name: string }[]).map(({ name }) => name));
        cursor = page.body['next_cursor'] as string | null;
      }
      assert.deepEqual(
        names,
        [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)),
      );
      assert.ok(names.includes(model) && names.length > 7);
      assert.equal((await viewer.send('GET', '/api/v1/models/none')).status, 404);
    });

    describe('a model is explained and tested by a gateway', () => {
      type Target = {
        id: string;
        state: string;
        way: string;
        notes: { kind: string; field: string }[] | null;
        maximum: { nano_usd: string };
      };
      type Explained = {
        targets: Target[];
        left_out: { id: string; reason: string; detail: string }[];
        refusal: { code: string } | null;
        cost: { maximum: { nano_usd: string }; held: { usd: string } | null } | null;
        credit: string;
        caller: { user: string; key: string } | null;
      };
      const explain = async (facts: object, name = model, client = viewer) => {
        const answer = await client.send('POST', `/api/v1/models/${name}/explain`, facts);
        assert.equal(answer.status, 200, answer.text);
        return answer.body as unknown as Explained;
      };

      test('an explanation has the cost of a quote, and the way of the interface with its losses', async () => {
        const native = await explain({ interface: 'anthropic-messages', stream: true });
        assert.deepEqual(
          native.targets.map(({ id, state, way, notes }) => [id, state, way, notes]),
          [[target, 'healthy', 'passes', []]],
        );
        assert.deepEqual([native.refusal, native.credit, native.caller], [null, 'unknown', null]);
        const quoted = await fetch(`${weir.gatewayUrl}/v1/quote`, {
          method: 'POST',
          headers: { 'x-api-key': weir.apiKey, 'content-type': 'application/json' },
          body: JSON.stringify({
            path: '/v1/messages',
            body: { model, max_tokens: 1024, messages: [{ role: 'user', content: 'Reply with the single word: ok' }], stream: true },
          }),
        });
        const { maximum } = (await quoted.json()) as { maximum: { nano_usd: string } };
        assert.equal(native.cost?.maximum.nano_usd, maximum.nano_usd);
        const translated = await explain({ interface: 'openai-responses', tools: true });
        assert.deepEqual(
          translated.targets.map(({ way, notes }) => [way, Array.isArray(notes)]),
          [['translated', true]],
        );
        const long = await explain({ interface: 'anthropic-messages', input_tokens: 100_000 });
        assert.ok(BigInt(long.cost?.maximum.nano_usd ?? 0) > 10n * BigInt(native.cost?.maximum.nano_usd ?? 0));
        const other = await explain({ interface: 'embeddings' });
        assert.deepEqual([other.refusal?.code, other.targets.length], ['no_suitable_target', 0]);
        const unknown = await explain({}, 'no-such-model');
        assert.equal(unknown.refusal?.code, 'model_not_found');
      });

      test('a key is refused what its list of models and upstreams does not have, and a target that is out says who took it', async () => {
        const limited = await operator.send('POST', '/api/v1/keys', {
          user: 'ellen',
          name: 'narrow',
          limits: { upstreams: ['simulated-openai'], spend_per_day_usd: '0.001' },
        });
        assert.equal(limited.status, 201, limited.text);
        const key_id = String((limited.body['key'] as { id: string } | undefined)?.id ?? limited.body['id']);
        const refused = await explain({ key_id, interface: 'anthropic-messages' });
        assert.deepEqual(
          [refused.refusal?.code, refused.left_out.map(({ reason }) => reason), refused.caller],
          ['model_not_found', [], { user: 'ellen', key: 'narrow' }],
        );
        const dear = await explain({ key_id, interface: 'openai-chat', output_tokens_max: 100_000 }, 'gpt-5-mini');
        assert.deepEqual([dear.refusal, dear.credit], [null, 'refused']);
        assert.equal((await explain({ user: 'ellen' }, 'gpt-5-mini')).credit, 'unlimited');
        assert.equal((await viewer.send('POST', `/api/v1/models/${model}/explain`, { key_id: 'key_none' })).status, 404);
        assert.equal((await operator.send('PUT', `${path}/override`, out(), { 'if-match': '*' })).status, 200);
        const taken = await eventually(
          () => explain({ interface: 'anthropic-messages' }),
          ({ left_out }) => left_out.length > 0,
        );
        assert.deepEqual([taken.refusal?.code, taken.targets], ['targets_taken_out', []]);
        assert.match(String(taken.left_out[0]?.detail), /^person:\w+ took it out of use until 20[^ ]+: maintenance$/);
        assert.equal((await operator.send('DELETE', `${path}/override`, undefined, { 'if-match': '*' })).status, 204);
        await eventually(
          () => explain({ interface: 'anthropic-messages' }),
          ({ left_out }) => left_out.length === 0,
        );
      });

      test('a test calls every interface with the rights of a key, which pays; the calls are in its books', async () => {
        const made = await operator.send('POST', '/api/v1/keys', { user: 'ellen', name: 'probe', limits: { addresses: ['192.0.2.7'] } });
        const key_id = String((made.body['key'] as { id: string } | undefined)?.id ?? made.body['id']);
        const testing = `/api/v1/models/${model}/test`;
        assert.equal((await viewer.send('POST', testing, { key_id })).body['code'], 'permission_required');
        const started = await operator.send('POST', testing, { key_id });
        assert.equal(started.status, 202, started.text);
        const ended = await eventually(
          () => operator.send('GET', String(started.headers.get('location'))),
          (answer) => answer.body['ended_at'] !== null,
        );
        type Tested = { interface: string; verdict: string; call_id: string; amount: { nano_usd: string }; first_byte_ms: number };
        const { calls } = ended.body['result'] as { calls: Tested[] };
        assert.deepEqual(
          calls.map((each) => `${each.interface} ${each.verdict}`).toSorted((a, b) => (a < b ? -1 : 1)),
          ['anthropic-messages', 'gemini-generate-content', 'openai-chat', 'openai-responses'].map((name) => `${name} passed`),
          ended.text,
        );
        for (const { call_id, amount, first_byte_ms } of calls) {
          assert.ok(BigInt(amount.nano_usd) > 0n && first_byte_ms >= 0, ended.text);
          const shown = await eventually(
            () => operator.send('GET', `/api/v1/calls/${call_id}`),
            ({ status }) => status === 200,
          );
          assert.deepEqual(
            [(shown.body['receipt'] as { user: string }).user, shown.text.includes(amount.nano_usd)],
            ['ellen', true],
            shown.text,
          );
        }
        const outside = await fetch(`${weir.gatewayUrl}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': 'lent-secret', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
          body: '{}',
        });
        assert.equal(outside.status, 401);
        const narrow = (await items(operator, '/api/v1/keys?user=ellen')).find(({ name }) => name === 'narrow');
        const again = await operator.send('POST', testing, { key_id: narrow?.['id'], interfaces: ['openai-chat', 'video'] });
        const refused = await eventually(
          () => operator.send('GET', String(again.headers.get('location'))),
          (answer) => answer.body['ended_at'] !== null,
        );
        assert.deepEqual(
          (refused.body['result'] as { calls: Tested[] }).calls.map((each) => [each.verdict, each.call_id]),
          [
            ['refused', null],
            ['skipped', null],
          ],
        );
      });
    });

    test('upstreams have their settings without secrets, and a check runs in the gateway', async () => {
      const names = (await items(viewer, '/api/v1/upstreams')).map(({ name }) => name);
      assert.ok(names.includes('simulated-anthropic'), String(names));
      const { status, body, text } = await viewer.send('GET', '/api/v1/upstreams/simulated-anthropic');
      const settings = body['settings'] as { path: string; from: string; secret: { set: boolean } | null; value: unknown }[];
      const key = settings.find((setting) => setting.path === 'upstreams.simulated-anthropic.apiKey');
      assert.deepEqual([status, key?.from, key?.secret?.set, key?.value], [200, 'simulated', true, null], text);
      assert.equal((await viewer.send('GET', '/api/v1/upstreams/nobody')).status, 404);
      const started = await operator.send('POST', '/api/v1/upstreams/simulated-anthropic/checks', { checks: ['reply'], may_call: true });
      assert.equal(started.status, 202, started.text);
      const operation = await eventually(
        () => operator.send('GET', String(started.headers.get('location'))),
        (answer) => answer.body['ended_at'] !== null,
      );
      const result = operation.body['result'] as { is_healthy: boolean; credentials: { matrix: { results: { verdict: string }[] }[] }[] };
      assert.equal(operation.body['state'], 'done', operation.text);
      assert.deepEqual([result.is_healthy, result.credentials[0]?.matrix[0]?.results[0]?.verdict], [true, 'good'], operation.text);
    });

    test('the configuration is shown with its sources, checked, and read again by every gateway', async () => {
      const config = await operator.send('GET', '/api/v1/config');
      const fields = config.body['fields'] as { path: string; value: unknown; from: string; line: number | null; needs_restart: boolean }[];
      const rule = fields.find((field) => field.path === 'retries.attemptsMax');
      assert.deepEqual([rule?.value, rule?.from, rule?.needs_restart], [3, 'default', false]);
      const given = fields.find((field) => field.path === 'timeouts.idleMs');
      assert.deepEqual([given?.value, given?.from, given?.line], [50_000, 'file', 2]);
      const wrong = await operator.send('POST', '/api/v1/config/check', {
        yaml: 'retries:\n  attemptsMax: ${WEIR_STORE_KEY}\n  avoid: 1\n',
      });
      assert.deepEqual(
        (wrong.body['problems'] as { line: number; path: string }[]).map((each) => [each.line, each.path]),
        [[3, 'retries.avoid']],
      );
      assert.equal((await operator.send('POST', '/api/v1/config/check', { yaml: 'timeZone: Asia/Shanghai' })).body['is_valid'], true);
      writeFileSync(configPath, 'timeouts:\n  idleMs: 60000\n');
      const reloaded = await operator.send('POST', '/api/v1/config/reload');
      assert.equal((reloaded.body['nodes'] as { has_followed: boolean }[])[0]?.has_followed, true, reloaded.text);
      const after = await operator.send('GET', '/api/v1/config');
      const changed = (after.body['fields'] as typeof fields).find((field) => field.path === 'timeouts.idleMs');
      assert.equal(changed?.value, 60_000);
      writeFileSync(configPath, 'timeouts: wrong\n');
      await operator.send('POST', '/api/v1/config/reload');
      const { problems } = (await operator.send('GET', '/api/v1/config/problems')).body as { problems: { detail: string }[] };
      assert.match(problems[0]?.detail ?? '', /timeouts/);
      assert.equal((await viewer.send('GET', '/api/v1/config')).body['code'], 'permission_required');
    });
  });

  describe('the overview, and what happens', () => {
    test('the overview adds up to the calls, and a call is an event after it is booked', async () => {
      const events = await openEvents(
        weir.consoleUrl,
        viewer.cookie(),
        '/api/v1/events?topics=calls,attention,targets&model=claude-haiku-4-5',
      );
      await events.until(({ event }) => event === 'attention');
      const made = await call('claude-haiku-4-5');
      const id = made.headers.get('x-weir-request-id') ?? '';
      await call('claude-sonnet-4-5');
      const booked = await events.until(({ event }) => event === 'calls');
      assert.deepEqual(
        (booked.data['items'] as { id: string }[]).map((each) => each.id),
        [id],
      );
      await events.close();
      const again = await openEvents(weir.consoleUrl, viewer.cookie(), '/api/v1/events?topics=calls', { 'last-event-id': booked.id });
      const missed = await again.until(({ event }) => event === 'calls');
      assert.ok((missed.data['items'] as { id: string }[]).length >= 1, 'calls since the last event are sent');
      await again.close();
      const calls = (await viewer.send('GET', '/api/v1/calls?limit=500')).body['items'] as { amount: { nano_usd: string } }[];
      const sum = calls.reduce((total, { amount }) => total + BigInt(amount.nano_usd), 0n);
      const overview = await eventually(
        () => viewer.send('GET', '/api/v1/overview'),
        ({ body }) => (body['today'] as { calls: number }).calls === calls.length,
      );
      const { month, last_day, users, upstreams, under_way, books } = overview.body as {
        month: { amount: { nano_usd: string } };
        last_day: {
          failed_share: number;
          first_byte_p95_ms: number;
          bucket_starts: string[];
          series: { amounts: { nano_usd: string }[] }[];
          hours: { failed_shares: (number | null)[]; first_byte_p95_ms: (number | null)[] };
        };
        users: { calls: number }[];
        upstreams: { upstream: string }[];
        under_way: number;
        books: { add_up: boolean };
      };
      const series = last_day.series.flatMap(({ amounts }) => amounts).reduce((total, { nano_usd }) => total + BigInt(nano_usd), 0n);
      assert.deepEqual(
        [BigInt(month.amount.nano_usd), series, users.reduce((total, each) => total + each.calls, 0)],
        [sum, sum, calls.length],
        overview.text,
      );
      assert.deepEqual([upstreams[0]?.upstream, under_way, books.add_up, last_day.failed_share], ['simulated-anthropic', 0, true, 0]);
      const { failed_shares: failed, first_byte_p95_ms: firstBytes } = last_day.hours;
      assert.deepEqual([failed.length, firstBytes.length], [last_day.bucket_starts.length, last_day.bucket_starts.length]);
      assert.deepEqual([...new Set(failed.filter((part) => part !== null))], [0], 'none failed');
      const measured = firstBytes.filter((ms) => ms !== null);
      assert.ok(measured.length > 0 && Math.max(...measured) >= last_day.first_byte_p95_ms, JSON.stringify(last_day));
    });

    test('a search finds calls, keys, users and upstreams that the caller may see, and nothing else', async () => {
      const key = await operator.send('POST', '/api/v1/keys', { user: 'quill', name: 'search' });
      const made = await call('claude-haiku-4-5');
      const id = made.headers.get('x-weir-request-id') ?? '';
      const find = async (client: ConsoleClient, text: string) =>
        (await items(client, `/api/v1/search?q=${encodeURIComponent(text)}`)).map((hit) => `${String(hit['kind'])} ${String(hit['id'])}`);
      await eventually(
        () => find(viewer, id),
        (hits) => hits[0] === `call ${id}`,
      );
      assert.deepEqual(await find(viewer, String(key.body['id'])), [`key ${String(key.body['id'])}`]);
      assert.deepEqual(await find(viewer, 'QUIL'), ['user quill']);
      assert.deepEqual(await find(viewer, 'simulated-anth'), ['upstream simulated-anthropic']);
      assert.deepEqual(await find(viewer, 'HAIKU-4-5'), ['model claude-haiku-4-5']);
      await operator.send('POST', '/api/v1/users', { name: 'rowan' });
      const owner = await addPerson('owner', ['rowan']);
      for (const text of [id, String(key.body['id']), 'quill', 'simulated', 'haiku']) assert.deepEqual(await find(owner, text), [], text);
      assert.deepEqual(await find(owner, 'row'), ['user rowan']);
      const own = await owner.send('GET', '/api/v1/overview');
      assert.deepEqual([own.status, own.body['users'], own.body['upstreams'], own.body['books']], [200, [], [], null], own.text);
      assert.equal((await owner.send('GET', '/api/v1/events?topics=targets')).status, 403);
      assert.equal((await owner.send('GET', '/api/v1/events?topics=nodes')).status, 403);
      assert.equal((await owner.send('GET', '/api/v1/events?topics=weather')).status, 400);
    });

    test('a problem is in the list, and an owner sees only those of their users', async () => {
      const alert = { rule: 'budget', period: '2026-11', state: 'open', version: 1, episode: 1, level: 1, basis: '1' } as const;
      const more = { severity: 'warning', summary: 'Used up.', action: 'Raise it.', sinceMs: 1000, members: {}, channels: [] } as const;
      await operator.send('POST', '/api/v1/users', { name: 'sage' });
      const owner = await addPerson('owner', ['sage']);
      for (const subject of ['user:sage', 'user:quill', 'upstream:x'])
        await store.changeAlert({ ...alert, ...more, subject, ...(subject === 'upstream:x' && { rule: 'upstream_down' }) }, []);
      // A gateway ends problems that it does not find, but not at once.
      const subjects = async (client: ConsoleClient) => (await items(client, '/api/v1/attention')).map(({ subject }) => subject);
      const [seen, own] = await Promise.all([subjects(viewer), subjects(owner)]);
      assert.deepEqual(own, ['user:sage']);
      for (const subject of ['user:sage', 'user:quill', 'upstream:x']) assert.ok(seen.includes(subject), String(seen));
    });
  });

  describe('operations', () => {
    let operations: Operations;
    let release = Promise.withResolvers<void>();
    before(() => {
      operations = createOperations({ store, clock: systemClock, newId: createIds(systemClock) });
      const runner = createOperationRunner({
        store,
        clock: systemClock,
        logger: silent,
        pollMs: 20,
        reportMs: 20,
        handlers: {
          'test.count': async (_input, { report, signal }) => {
            report({ done: 1, total: 2, unit: 'steps' });
            signal.addEventListener('abort', () => release.resolve());
            await release.promise;
            return { counted: 2 };
          },
        },
      });
      runner.start();
      opened.defer(() => runner.close());
    });
    const change = { actor: 'cli:test', via: 'cli', atMs: 1 } as const;
    const start = (permission: 'prices:stage' | 'usage:read') => {
      release = Promise.withResolvers();
      return operations.start({ kind: 'test.count', permission, input: { steps: 2 }, change, isAudited: true });
    };

    test('an operation is followed by events, from the last one that was received, and its result is read later', async () => {
      const { id } = await start('usage:read');
      const path = `/api/v1/operations/${id}`;
      const events = await openEvents(weir.consoleUrl, viewer.cookie(), `${path}/events`);
      const running = await events.until(({ data }) => data['state'] === 'running' && data['progress'] !== null);
      assert.deepEqual(running.data['progress'], { done: 1, total: 2, unit: 'steps', partial: null });
      await events.close();
      release.resolve();
      const rest = await openEvents(weir.consoleUrl, viewer.cookie(), `${path}/events`, { 'last-event-id': running.id });
      const all = await rest.all();
      assert.deepEqual([all.length, all.at(-1)?.data['state']], [1, 'done']);
      const { status, body } = await viewer.send('GET', path);
      assert.deepEqual([status, body['result'], body['actor'], body['attempts']], [200, { counted: 2 }, 'cli:test', 1]);
      assert.equal((await operator.send('DELETE', path)).body['code'], 'conflict');
    });

    test('cancelling stops it and is audited; without its permission it does not exist', async () => {
      const { id } = await start('prices:stage');
      const path = `/api/v1/operations/${id}`;
      for (const [method, suffix] of [
        ['GET', ''],
        ['GET', '/events'],
        ['DELETE', ''],
      ] as const)
        assert.equal((await viewer.send(method, `${path}${suffix}`)).status, 404, method + suffix);
      const cancelled = await operator.send('DELETE', path);
      assert.equal(cancelled.status, 202, cancelled.text);
      const end = await operations.ended(id, AbortSignal.timeout(10_000));
      assert.equal(end.state, 'cancelled');
      const audit = await operator.send('GET', `/api/v1/audit?subject=operation:${id}`);
      assert.deepEqual(
        (audit.body['items'] as { action: string }[]).map(({ action }) => action),
        ['operations.cancel', 'test.count'],
      );
    });

    test('one stream sends gateways, and the operations that its reader may see, with their progress', async () => {
      const path = '/api/v1/events?topics=nodes,operations';
      const [seeing, blind] = await Promise.all([operator, viewer].map((each) => openEvents(weir.consoleUrl, each.cookie(), path)));
      assert.ok(seeing !== undefined && blind !== undefined);
      const nodes = await blind.until(({ event }) => event === 'nodes');
      assert.deepEqual((nodes.data['items'] as { state: string }[])[0]?.state, 'running');
      const itemsOf = ({ data }: { data: object }) => (data as { items: { id: string; state: string; progress: object | null }[] }).items;
      const { id: hidden } = await start('prices:stage');
      const held = release;
      const running = await seeing.until((event) => itemsOf(event).some((item) => item.id === hidden && item.progress !== null));
      const [item] = itemsOf(running);
      assert.deepEqual([item?.state, item?.progress], ['running', { done: 1, total: 2, unit: 'steps' }]);
      assert.ok(item !== undefined && !('result' in item) && !('input' in item));
      held.resolve();
      await seeing.until((event) => itemsOf(event).some(({ id, state }) => id === hidden && state === 'done'));
      const { id } = await start('usage:read');
      release.resolve();
      // The one before is not in the stream of a reader without its permission.
      const first = await blind.until((event) => event.event === 'operations' && itemsOf(event).length > 0);
      assert.deepEqual(
        itemsOf(first).map((each) => each.id),
        [id],
      );
      await Promise.all([seeing.close(), blind.close()]);
    });

    test('a person who may see some users only sees what they began themselves', async () => {
      await operator.send('POST', '/api/v1/users', { name: 'opal' });
      const owner = await addPerson('owner', ['opal']);
      const { id } = await start('usage:read');
      release.resolve();
      assert.equal((await owner.send('GET', `/api/v1/operations/${id}`)).status, 404);
      const { body } = await owner.send('GET', '/api/v1/session');
      const actor = `person:${String((body['person'] as { name: string }).name)}`;
      const own = await operations.start({
        kind: 'test.count',
        permission: 'usage:read',
        input: 1,
        change: { ...change, actor },
        isAudited: false,
      });
      assert.equal((await owner.send('GET', `/api/v1/operations/${own.id}`)).status, 200);
    });
  });
});
