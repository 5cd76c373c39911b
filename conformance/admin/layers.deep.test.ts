import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { runCommand } from '../programs/run-command.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';

const secret = 'sk-published-0123456789abcdef-last';
const refusedKey = 'sk-refused-0123456789abcdef-last';
const silentKey = 'sk-silent-0123456789abcdef-last';
const fileSecret = 'sk-of-the-file-0123456789abcdef-last';
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_571_200,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
};

type Listed = {
  readonly number: number;
  readonly used_by: readonly string[];
  readonly problems: readonly { readonly node: string; readonly detail: string }[];
};

describe('layers of the configuration, with two gateways on one PostgreSQL', { skip: skipPostgres }, () => {
  const opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'weir-layers-'));
  let postgres: PostgresServer;
  let first: ServedWeir;
  let second: ServedWeir;
  let operator: ConsoleClient;
  let baseUrl: string;
  /** The requested models of calls at the upstream, and their credentials. */
  const asked: { readonly model: string; readonly credential: string | undefined }[] = [];
  /** Every answer of the admin API. */
  const answers: string[] = [];

  before(async () => {
    opened.defer(() => rmSync(folder, { recursive: true, force: true }));
    const server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        if (request.headers.authorization === `Bearer ${refusedKey}`) {
          response.writeHead(401, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ error: { message: `no such key: ${refusedKey}`, type: 'invalid_request_error' } }));
          return;
        }
        // An answer that never comes.
        if (request.headers.authorization === `Bearer ${silentKey}`) return;
        const { model = '', messages } = (request.method === 'POST' ? JSON.parse(text) : { messages: [] }) as {
          readonly model?: string;
          readonly messages?: unknown;
        };
        if (!Array.isArray(messages)) {
          response
            .writeHead(400, { 'content-type': 'application/json' })
            .end(JSON.stringify({ error: { message: 'messages is not a list' } }));
          return;
        }
        if (model !== '') asked.push({ model, credential: request.headers.authorization });
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...completion, model, data: [{ id: 'fresh-there' }] }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.defer(() => server.closeAllConnections());
    opened.defer(() => void server.close());
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    postgres = await startPostgres(['fsync=off']);
    opened.defer(() => postgres.close());
    first = opened.use(await serve('first', { onlyFirst: 'openai-compatible' }));
    second = opened.use(await serve('second', { chosen: 'of-the-file' }));
    operator = await signInByLink(first.consoleUrl, first.consoleLink);
  });
  after(() => opened.disposeAsync());

  /** A configuration with one upstream, and a model or another upstream that only this machine has. */
  async function serve(name: string, own: { readonly onlyFirst?: string; readonly chosen?: string }): Promise<ServedWeir> {
    const upstream = { vendor: 'openai-compatible', baseUrl, apiKey: fileSecret, discoverModels: false };
    const config = {
      database: { url: postgres.url() },
      alerts: { checkSeconds: 1 },
      upstreams: { filed: upstream, ...(own.onlyFirst !== undefined && { 'only-first': { ...upstream, apiKey: `${fileSecret}2` } }) },
      models: {
        steady: { targets: [{ upstream: 'filed' }] },
        ...(own.chosen !== undefined && { chosen: { targets: [{ upstream: 'filed', model: own.chosen }] } }),
      },
    };
    return await serveWeir({
      config: JSON.stringify(config),
      environment: { WEIR_CONSOLE_PORT: '0', WEIR_PROOF_KEY: '5a'.repeat(32) },
      monitor: false,
      dataDirectory: mkdtempSync(join(folder, `${name}-`)),
    });
  }

  async function send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    const answer = await operator.send(method, path, body, headers);
    answers.push(answer.text);
    return answer;
  }
  const publish = (body: object, seen = '*') => send('POST', '/api/v1/config/layers', body, { 'if-match': seen });
  async function published(body: object): Promise<number> {
    const answer = await publish(body);
    assert.equal(answer.status, 201, answer.text);
    return Number(answer.body['number']);
  }
  const list = async () => (await send('GET', '/api/v1/config/layers')).body['items'] as Listed[];

  async function call(weir: ServedWeir, model: string): Promise<number> {
    const response = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await response.text();
    return response.status;
  }
  /** Repeats a reading until it fits, for at most 15 s. */
  async function eventually<Result>(read: () => Promise<Result>, fits: (result: Result) => boolean): Promise<Result> {
    for (const untilMs = Date.now() + 15_000; Date.now() < untilMs; await delay(50)) {
      const result = await read();
      if (fits(result)) return result;
    }
    return assert.fail(`it never became so: ${JSON.stringify(await read())}`);
  }
  const answersWith = (weir: ServedWeir, model: string, status: number) =>
    eventually(
      () => call(weir, model),
      (found) => found === status,
    );
  const layered = () => ({ vendor: 'openai-compatible', baseUrl, apiKey: secret, discoverModels: false });
  const fresh = { targets: [{ upstream: 'layered', model: 'fresh-there' }] };

  test('a layer with a problem is refused with its position, and nothing is stored', async () => {
    const yaml = ['upstreams:', '  layered:', '    vendor: openai-compatible', `    baseUrl: ${baseUrl}`, '    apiKei: x', ''].join('\n');
    assert.equal((await send('POST', '/api/v1/config/layers', { yaml })).body['code'], 'if_match_required');
    const wrong = await publish({ yaml });
    const [problem] = wrong.body['problems'] as { line: number; column: number; path: string }[];
    assert.deepEqual([wrong.status, problem?.line, problem?.path], [400, 5, 'upstreams.layered.apiKei'], wrong.text);
    assert.match(String((await publish({ yaml: 'a: [' })).body['detail']), /not YAML/);
    const upstream = layered();
    for (const [layer, pointer, words] of [
      [{ timeZone: 'UTC' }, '/layer/timeZone', /not a known field/],
      [{ models: { x: { targets: [{ upstream: 'nobody' }] } } }, '/layer/models/x/targets/0/upstream', /there is no upstream "nobody"/],
      [{ upstreams: { a: { ...upstream, apiKey: '${HOME}' } } }, '/layer/upstreams/a/apiKey', /must not refer to what a machine has/],
      [{ upstreams: { a: { ...upstream, baseUrl: 'http://u:p@x.example' } } }, '/layer/upstreams/a/baseUrl', /no user, password/],
      [{ upstreams: { a: { ...upstream, proxy: 'http://u:p@x.example:1' } } }, '/layer/upstreams/a/proxy', /no user and password/],
      [{ upstreams: { a: { ...upstream, apiKey: { layer: 1 } } } }, '/layer/upstreams/a/apiKey', /layer 1 has no credential/],
      [{ upstreams: { a: { ...upstream, apiKey: 12345 } } }, '/layer/upstreams/a/apiKey', /must be the credential as a text/],
      [
        { models: { x: { ...fresh, targets: [{ upstream: 'filed' }], price: { input: '1', output: '1' } } } },
        '/layer/models/x/price',
        /price book/,
      ],
    ] as const) {
      const refused = await publish({ layer });
      const [error] = refused.body['errors'] as { pointer: string; detail: string }[];
      assert.deepEqual([refused.status, error?.pointer], [400, pointer], refused.text);
      assert.match(error?.detail ?? '', words);
    }
    assert.match(String((await publish({})).body['detail']), /exactly one/);
    assert.equal((await publish({ from: 7 })).status, 400);
    assert.deepEqual(await list(), []);
    assert.equal(await call(first, 'fresh'), 404);
  });

  /** What a check of a layer found. */
  type Checked = {
    readonly state: string;
    readonly input: object;
    readonly result: {
      readonly is_healthy: boolean;
      readonly credentials: readonly {
        readonly findings: readonly {
          readonly verdict: string;
          readonly subject: string;
          readonly says: string;
          readonly advice?: string;
        }[];
      }[];
    } | null;
  };
  const startCheck = (body: object) => send('POST', '/api/v1/config/layers/checks', { timeout_s: 5, ...body });
  const operationAt = async (started: ApiAnswer) =>
    (await send('GET', `/api/v1/operations/${String(started.body['id'])}`)).body as unknown as Checked;
  const hasEnded = ({ state }: Checked): boolean => state !== 'waiting' && state !== 'running';
  async function checked(
    layer: object,
    more: object = {},
  ): Promise<readonly [healthy: boolean | undefined, words: string, findings: string]> {
    const started = await startCheck({ layer, ...more });
    assert.equal(started.status, 202, started.text);
    const { result, input } = await eventually(() => operationAt(started), hasEnded);
    assert.deepEqual(Object.keys(input), ['upstreams', 'checks', 'model', 'may_call', 'timeout_s']);
    const findings = result?.credentials.flatMap((each) => each.findings) ?? [];
    const words = findings.map(({ verdict, subject }) => `${verdict} ${subject}`).join(', ');
    return [result?.is_healthy, words, findings.map(({ says, advice = '' }) => `${says}; ${advice}`).join('\n')];
  }

  test('a layer is checked by a gateway before it is published: address, credential, models, prices; nothing changes', async () => {
    const [isHealthy, words, says] = await checked({ upstreams: { layered: layered() }, models: { fresh } });
    assert.deepEqual([isHealthy, words], [true, 'good TCP, none services, good HTTP, good credential, good models, warning prices'], says);
    assert.match(says, /the key of the layer is accepted[^]*1 models are listed[^]*in its list: fresh-there[^]*no price for fresh-there/);
    const wrong = { ...fresh, targets: [{ upstream: 'layered', model: 'elsewhere' }] };
    assert.match(
      (await checked({ upstreams: { layered: layered() }, models: { wrong } }))[2],
      /not in its list of 1: elsewhere; check the spelling/,
    );
    const refused = await checked({ upstreams: { layered: { ...layered(), apiKey: refusedKey } } });
    assert.deepEqual(refused.slice(0, 2), [false, 'good TCP, good HTTP, bad credential'], refused[2]);
    assert.match(refused[2], /401[^]*no such key[^]*; \S+/);
    const nowhere = await checked({ upstreams: { layered: { ...layered(), baseUrl: 'http://127.0.0.1:9/v1' } } });
    assert.deepEqual(nowhere.slice(0, 2), [false, 'bad TCP'], nowhere[2]);
    assert.match(nowhere[2], /connection refused by 127\.0\.0\.1:9; is the server running/);
    const own = await checked({ upstreams: { filed: layered() } });
    assert.match(own[2], /has an upstream filed of its own, which comes before the one of the layer; choose another name/);
    const calls = await checked({ upstreams: { layered: layered() } }, { may_call: true, model: 'fresh-there', checks: ['reply'] });
    assert.equal(asked.at(-1)?.model, 'fresh-there', calls[2]);
    assert.deepEqual(await list(), []);
    assert.equal(await call(first, 'fresh'), 404);
  });

  test('a check of a layer is refused as a publication is, ends when it is cancelled or late, and leaves no credential behind', async () => {
    const upstreams = { layered: layered() };
    for (const [body, words] of [
      [{ layer: { upstreams: { a: { ...layered(), apiKey: '${HOME}' } } } }, /must not refer to what a machine has/],
      [{ layer: { upstreams, models: { x: { targets: [{ upstream: 'nobody' }] } } } }, /there is no upstream .{1,2}nobody/],
      [{ yaml: 'upstreams:\n  a: { vendor: openai, apiKei: x }\n' }, /2:\d+ upstreams\.a\.apiKei/],
      [{ layer: {} }, /changes no upstream/],
      [{ layer: { upstreams }, upstreams: ['nobody'] }, /no upstream nobody; it has: layered/],
      [{}, /exactly one/],
    ] as const) {
      const refused = await startCheck(body);
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.text, words);
    }
    const silent = { upstreams: { layered: { ...layered(), apiKey: silentKey } } };
    const late = await checked(silent, { timeout_s: 0.2 });
    assert.deepEqual([late[0], late[1].includes('bad HTTP')], [false, true], late[2]);
    const started = await startCheck({ layer: silent, timeout_s: 600 });
    await eventually(
      () => operationAt(started),
      ({ state }) => state === 'running',
    );
    assert.equal((await send('DELETE', `/api/v1/operations/${String(started.body['id'])}`)).status, 202);
    assert.equal((await eventually(() => operationAt(started), hasEnded)).state, 'cancelled');
    const rows = await postgres.query('select count(*) as kept from operations where sealed is not null');
    assert.match(rows, /\b0\b/);
    const audit = await send('GET', '/api/v1/audit?action=config.layers.check');
    assert.ok((audit.body['items'] as unknown[]).length > 5);
  });

  test('an upstream and a model of a layer answer at both gateways soon, with the credential, and it is shown nowhere', async () => {
    const note = 'our own server';
    assert.equal(await published({ layer: { upstreams: { layered: layered() }, models: { fresh } }, note }), 1);
    await Promise.all([first, second].map((weir) => answersWith(weir, 'fresh', 200)));
    assert.deepEqual(asked.at(-1), { model: 'fresh-there', credential: `Bearer ${secret}` });
    const [newest] = await eventually(list, ([layer]) => layer?.used_by.length === 2);
    assert.deepEqual([newest?.number, newest?.problems], [1, []]);
    const whole = await send('GET', '/api/v1/config/layers/1');
    assert.equal(whole.status, 200, whole.text);
    const { upstreams } = whole.body['layer'] as { upstreams: { layered: { apiKey: unknown; vendor: string } } };
    assert.deepEqual(upstreams.layered.apiKey, { set: true, ends_in: 'last', layer: 1 });
    const upstream = await send('GET', '/api/v1/upstreams/layered');
    const settings = upstream.body['settings'] as { path: string; from: string; secret: { ends_in: string } | null }[];
    const key = settings.find(({ path }) => path === 'upstreams.layered.apiKey');
    assert.deepEqual([key?.from, key?.secret?.ends_in], ['layer', 'last']);
    const audit = await send('GET', '/api/v1/audit?action=config.publish');
    const [row] = audit.body['items'] as { actor: string; note: string; subject: string }[];
    assert.deepEqual([row?.actor, row?.note, row?.subject], ['person:operator', note, 'config_layer:1']);
  });

  test('the file of a gateway comes before the layer, name by name', async () => {
    const chosen = { targets: [{ upstream: 'layered', model: 'of-the-layer' }] };
    // The answer is sent again: the secret stays.
    const { layer } = (await send('GET', '/api/v1/config/layers/1')).body as { layer: { models: object } };
    const limits = { perKey: { requestsPerMinute: 5000 } };
    const number = await published({ layer: { ...layer, models: { ...layer.models, chosen }, limits } });
    await answersWith(first, 'chosen', 200);
    assert.deepEqual(asked.at(-1), { model: 'of-the-layer', credential: `Bearer ${secret}` });
    await eventually(list, ([newest]) => newest?.used_by.length === 2);
    assert.equal(await call(second, 'chosen'), 200);
    assert.deepEqual(asked.at(-1), { model: 'of-the-file', credential: `Bearer ${fileSecret}` });
    const { hidden } = (await send('GET', `/api/v1/config/layers/${number}`)).body as { hidden: { paths: string[] }[] };
    assert.deepEqual(
      hidden.map(({ paths }) => paths),
      [['models.chosen']],
    );
    const fields = (await send('GET', '/api/v1/config')).body['fields'] as { path: string; from: string; value: unknown }[];
    const limit = fields.find(({ path }) => path === 'limits.perKey.requestsPerMinute');
    assert.deepEqual([limit?.value, limit?.from], [5000, 'layer']);
  });

  test('of two operators who publish at once one succeeds, and the other gets the present layer', async () => {
    const etag = String((await send('GET', '/api/v1/config/layers')).headers.get('etag'));
    const both = await Promise.all(['one', 'two'].map((note) => publish({ from: 2, note }, etag)));
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 412],
      both.map(({ text }) => text).join('\n'),
    );
    const [winner, loser] = both.toSorted((a, b) => a.status - b.status);
    const late = await publish({ from: 1 }, etag);
    for (const refused of [loser, late]) {
      const current = refused?.body['current'] as { number: number; note: string } | undefined;
      assert.deepEqual([refused?.body['code'], current?.number, current?.note], ['version_mismatch', 3, winner?.body['note']]);
    }
  });

  test('a credential is kept for the same address only', async () => {
    const other = await publish({
      layer: { upstreams: { layered: { ...layered(), baseUrl: 'http://127.0.0.1:9/v1', apiKey: { layer: 1 } } }, models: { fresh } },
    });
    assert.match(String((other.body['errors'] as { detail: string }[])[0]?.detail), /another vendor, baseUrl, preset or proxy/, other.text);
  });

  test('a model in use loses its last target only if the publisher names it; an earlier layer comes back whole', async () => {
    const empty = await publish({ layer: {} });
    assert.deepEqual([empty.status, (empty.body['models'] as string[]).toSorted()], [409, ['chosen', 'fresh']], empty.text);
    await published({ layer: {}, drop_models: ['fresh', 'chosen'] });
    await Promise.all([first, second].map((weir) => answersWith(weir, 'fresh', 404)));
    assert.equal(await call(first, 'steady'), 200);
    const again = await publish({ from: 3 });
    assert.deepEqual([again.status, again.body['restored']], [201, 3], again.text);
    await Promise.all([first, second].map((weir) => answersWith(weir, 'fresh', 200)));
    assert.deepEqual(asked.at(-1)?.credential, `Bearer ${secret}`);
  });

  test('a gateway that cannot use a layer keeps the last good one, and says so everywhere', async () => {
    const before = (await list())[0]?.number;
    const { layer } = (await send('GET', `/api/v1/config/layers/${before}`)).body as { layer: { models: object } };
    const special = { targets: [{ upstream: 'only-first', model: 'special' }] };
    const number = await published({ layer: { ...layer, models: { ...layer.models, special } } });
    await answersWith(first, 'special', 200);
    const [newest] = await eventually(list, ([found]) => found?.problems.length === 1);
    assert.match(newest?.problems[0]?.detail ?? '', new RegExp(`layer ${number} cannot be used here: models.special.targets.0.upstream`));
    assert.deepEqual([await call(second, 'special'), await call(second, 'fresh')], [404, 200]);
    const nodes = (await send('GET', '/api/v1/nodes')).body['items'] as { layer: { number: number; problem: string | null } | null }[];
    const refused = nodes.find(({ layer: used }) => used?.problem !== null);
    assert.equal(refused?.layer?.number, before);
    assert.match(second.output(), /configuration layer refused/);
    const attention = async () => (await send('GET', '/api/v1/attention')).body['items'] as { code: string; summary: string }[];
    const items = await eventually(attention, (found) => found.some(({ code }) => code === 'configuration'));
    assert.match(items.find(({ code }) => code === 'configuration')?.summary ?? '', new RegExp(`layer ${number}`));
    // A gateway that starts now has the newest layer that it can use.
    await using third = await serve('third', {});
    assert.deepEqual([await call(third, 'special'), await call(third, 'steady')], [404, 200]);
    await published({ from: before, drop_models: ['special'] });
    await eventually(list, ([found]) => found?.problems.length === 0 && found.used_by.length === 3);
    assert.equal(await call(third, 'fresh'), 200);
  });

  test('commands list, publish, roll back and export, here and on another machine', async () => {
    const made = await send('POST', '/api/v1/admin_tokens', { name: 'layers', permissions: ['config:read', 'config:write'] });
    const away = { WEIR_DATA_DIR: join(folder, 'none'), WEIR_ADMIN_TOKEN: String(made.body['secret']), LAYERED_KEY: secret };
    const here = {
      WEIR_DATA_DIR: first.dataDirectory,
      WEIR_CONFIG: join(first.dataDirectory, 'weir.yaml'),
      WEIR_PROOF_KEY: '5a'.repeat(32),
    };
    const remote = (...words: string[]) => runCommand([...words, '--remote', first.consoleUrl], away);
    const file = join(folder, 'layer.yaml');
    const upstream = `{ vendor: openai-compatible, baseUrl: "${baseUrl}", apiKey: "\${LAYERED_KEY}", discoverModels: false }`;
    const text = `upstreams:\n  layered: ${upstream}\nmodels:\n  fresh: { targets: [{ upstream: layered }] }\n`;
    writeFileSync(file, `${text}  broken: { targets: [{ upstream: nobody }] }\n`);
    const broken = await remote('config', 'publish', file);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /layer\.yaml:5:35 models\.broken\.targets\.0\.upstream: there is no upstream "nobody"/);
    writeFileSync(file, text);
    const checking = await remote('config', 'check-layer', file, '--no-calls', '--timeout', '5');
    assert.equal(checking.code, 0, checking.stderr);
    assert.match(checking.stdout, /✓ credential {2,}the key of the layer is accepted/, checking.stdout);
    assert.equal(
      (await runCommand(['config', 'check-layer', file, '--upstream', 'layered', '--no-calls', '--json'], { ...here, LAYERED_KEY: secret }))
        .code,
      0,
    );
    const dropping = await remote('config', 'publish', file);
    assert.match(dropping.stderr, /chosen[^]*--drop-models/, dropping.stderr);
    const publishing = await remote('config', 'publish', file, '--note', 'by hand', '--drop-models', 'chosen,special');
    const number = Number(/published as layer (\d+)/.exec(publishing.stdout)?.[1] ?? assert.fail(publishing.stderr));
    const listed = await remote('config', 'layers');
    const local = await runCommand(['config', 'layers'], here);
    assert.match(listed.stdout, /by hand/);
    assert.equal(local.stdout.split('\n').length, listed.stdout.split('\n').length, local.stderr);
    const exported = await remote('config', 'export');
    assert.match(exported.stdout, /layered:[^]*\$\{WEIR_UPSTREAMS_LAYERED_API_KEY:-[^}]* is not set\}/, exported.stderr);
    const opened = await runCommand(['config', 'export', '--secrets'], here);
    assert.ok(opened.stdout.includes(secret) && opened.stdout.includes(fileSecret), opened.stderr);
    for (const [name, whole] of Object.entries({ masked: exported.stdout, open: opened.stdout })) {
      const path = join(folder, `${name}.yaml`);
      writeFileSync(path, whole);
      const checked = await runCommand(['config', 'check'], { ...here, WEIR_CONFIG: path });
      assert.match(checked.stdout, /The configuration is good[^]*upstream layered/, checked.stderr);
    }
    assert.equal((await remote('config', 'export', '--secrets')).code, 1);
    const back = await runCommand(['config', 'rollback', String(number - 1)], here);
    assert.match(back.stdout, new RegExp(`published layer ${number - 1} again, as layer ${number + 1}`), back.stderr);
    for (const { stdout, stderr } of [broken, dropping, publishing, listed, local, exported, back])
      assert.ok(!stdout.includes('sk-') && !stderr.includes('sk-'), stdout + stderr);
  });

  test('no answer, log line, audit row or table has a credential in clear', async () => {
    const audit = await send('GET', '/api/v1/audit?limit=500');
    assert.ok((audit.body['items'] as unknown[]).length > 5);
    const rows = [await postgres.query('select * from config_layers'), await postgres.query('select * from operations')].join('\n');
    const reports = await postgres.query('select * from node_reports');
    const places = { answers: answers.join('\n'), first: first.output(), second: second.output(), rows, reports };
    for (const [place, text] of Object.entries(places))
      for (const hidden of [secret, fileSecret, refusedKey, silentKey]) assert.ok(!text.includes(hidden), `${place} contains ${hidden}`);
  });
});
