import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { assertDescribed, assertRequestDescribed } from '../gateway/described-answers.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

describe('the cost of a call is quoted without making the call', () => {
  let running: SimulatedWeir;
  let ledger: Ledger;
  before(async () => {
    running = await startSimulatedGateway({
      runsTools: true,
      // More expensive than all text that a model writes about the results.
      toolPrices: { webSearch: '5' },
      models: {
        hearing: {
          targets: [{ upstream: 'openai', model: 'hearing-prod', is: 'gpt-4o-transcribe' }],
          price: { input: '1', output: '2' },
        },
        two: {
          targets: [
            { upstream: 'openai', model: 'gpt-4.1-mini' },
            { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
          ],
        },
      },
    });
    ledger = await openLedger(running.weir.dataDirectory);
  });
  after(async () => {
    await ledger.close();
    await running[Symbol.asyncDispose]();
  });

  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(`${running.weir.gatewayUrl}${path}`, body, { authorization: `Bearer ${running.weir.apiKey}`, ...headers });

  async function quote(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer['json']> {
    assertRequestDescribed('POST', '/v1/quote', 'application/json', { path, body });
    const answer = await send('/v1/quote', { path, body }, headers);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    assertDescribed('POST', '/v1/quote', answer);
    return answer.json;
  }

  /** The cost of a call that was made, in nano-USD. */
  const costOf = async (answer: Answer): Promise<bigint> => {
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    const receipt = await call(`${running.weir.gatewayUrl}${String(answer.headers['x-weir-receipt'])}`, {
      headers: { authorization: `Bearer ${running.weir.apiKey}` },
    });
    const rows = await ledger.rows(String(answer.headers['x-weir-request-id']), receipt.json.rows.length);
    return rows.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);
  };

  async function compare(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer['json']> {
    const quoted = await quote(path, body, headers);
    const cost = await costOf(await send(path, body, headers));
    const nanoUsd = (bound: 'minimum' | 'expected' | 'maximum'): bigint => BigInt(quoted[bound].nano_usd);
    const [minimum, expected, maximum] = [nanoUsd('minimum'), nanoUsd('expected'), nanoUsd('maximum')] as const;
    assert.ok(cost > 0n && minimum <= cost && cost <= maximum, `${path}: ${cost} is between ${minimum} and ${maximum}`);
    assert.ok(minimum <= expected && expected <= maximum && expected > 0n, `${path}: ${expected} is expected`);
    return quoted;
  }

  test('in every interface the charge is within the quote, and nothing is called or booked', async () => {
    for (const api of chatInterfaces) {
      const path = api.path(api.model, false);
      const quoted = await compare(path, api.body(api.model, 'hello there', false), api.headers);
      assert.deepEqual([quoted.dialect, quoted.requested_model, quoted.rounds_max], [api.dialect, api.model, 1]);
      assert.deepEqual([quoted.held, quoted.allowed, quoted.targets.length], [null, true, 1]);
      assert.match(quoted.targets[0].price_id, /@/);
      assert.ok(quoted.targets[0].lines.length > 0);
    }
    const before = { rows: await settledRows(), calls: running.simulator.records().length };
    for (const api of chatInterfaces) await quote(api.path(api.model, true), api.body(api.model, 'hello', true), api.headers);
    assert.deepEqual({ rows: await settledRows(), calls: running.simulator.records().length }, before);
  });

  const settledRows = async (): Promise<number> => (await ledger.all()).length;

  test('an output limit, a long text and a stored conversation change the maximum', async () => {
    const ask = async (body: object): Promise<bigint> =>
      BigInt((await quote('/v1/responses', { model: 'gpt-4.1', ...body })).maximum.nano_usd);
    const short = await ask({ input: 'hello', max_output_tokens: 100 });
    assert.ok((await ask({ input: 'hello', max_output_tokens: 1000 })) > short);
    assert.ok((await ask({ input: 'hello '.repeat(2000), max_output_tokens: 100 })) > short);
    const first = await send('/v1/responses', { model: 'gpt-4.1', input: 'remember this '.repeat(500), max_output_tokens: 20 });
    const next = { previous_response_id: first.json.id, input: 'hello', max_output_tokens: 100 };
    assert.ok((await ask(next)) > short);
    const unknown = await send('/v1/quote', {
      path: '/v1/responses',
      body: { model: 'gpt-4.1', ...next, previous_response_id: 'resp_unknown' },
    });
    const called = await send('/v1/responses', { model: 'gpt-4.1', ...next, previous_response_id: 'resp_unknown' });
    assert.deepEqual([unknown.status, unknown.json.error], [called.status, called.json.error]);
  });

  test('several targets are listed with what translation would do; the maximum is that of the most expensive one', async () => {
    const body = { model: 'two', messages: [{ role: 'user', content: 'hello' }], max_tokens: 50, seed: 7 };
    const { targets, maximum, expected } = await quote('/v1/chat/completions', body);
    assert.deepEqual(
      targets.map(({ upstream, notes }: { upstream: string; notes: readonly { field: string }[] }) => [
        upstream,
        notes.map(({ field }) => field),
      ]),
      [
        ['openai', []],
        ['anthropic', ['seed']],
      ],
    );
    assert.deepEqual([maximum, expected], [targets[1].maximum, targets[0].expected]);
  });

  test('a call whose tools the gateway runs may have several rounds', async () => {
    const body = { model: 'gpt-4.1', input: 'Search the web for cats', tools: [{ type: 'web_search' }], max_output_tokens: 500 };
    assert.equal((await compare('/v1/responses', body)).rounds_max, 10);
  });

  test('M13: a call costs no more than its quote, however often its tools run, including its thoughts', async () => {
    const body = { model: 'gpt-4.1', input: 'Search the web for cats', tools: [{ type: 'web_search' }] };
    const never = { 'x-simulator-stop': 'tool-use' };
    const open = await compare('/v1/responses', body, never);
    // This many searches in this many calls, and a window of text in each round.
    assert.ok(BigInt(open.maximum.nano_usd) >= 64n * 4n * 5_000_000_000n, open.maximum.usd);
    const few = await compare('/v1/responses', { ...body, max_tool_calls: 2 }, never);
    assert.ok(BigInt(few.maximum.nano_usd) + 62n * 4n * 5_000_000_000n === BigInt(open.maximum.nano_usd));
    const thinking = {
      model: 'claude-sonnet-4-5',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 100,
      reasoning_effort: 'high',
    };
    const { targets } = await compare('/v1/chat/completions', thinking);
    assert.ok(targets[0].usage.most.output_tokens > 10_000, 'the bound includes the thoughts');
  });

  test('a quote says whether there is credit and how much would be held, and holds nothing', async () => {
    const created = await runCommand(['keys', 'create', '--user', 'poor', '--name', 'k', '--spend-total', '0.01'], {
      WEIR_DATA_DIR: running.weir.dataDirectory,
    });
    const key = { authorization: `Bearer ${created.stdout.trim()}` };
    const body = (tokens: number) => ({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'hello' }], max_tokens: tokens });
    const path = '/v1/chat/completions';
    const allowed = await eventually(
      () => send('/v1/quote', { path, body: body(100) }, key),
      ({ json }) => json.allowed === true,
    );
    assert.deepEqual(allowed.json.held, allowed.json.maximum);
    for (let index = 0; index < 20; index += 1) assert.equal((await quote(path, body(100), key)).allowed, true);
    const refused = await quote(path, body(30_000), key);
    assert.deepEqual([refused.allowed, refused.refusal.reason], [false, 'spend_limit']);
    const called = await send(path, body(30_000), key);
    assert.equal(called.status, 429, called.text);
    assert.equal((await send(path, body(100), key)).status, 200);
  });

  test('speech, embeddings, and a recording by its length', async () => {
    await compare('/v1/audio/speech', { model: 'tts-1', voice: 'nova', input: 'Hello there.' });
    await compare('/v1/audio/speech', { model: 'gpt-4o-mini-tts', voice: 'nova', input: 'Hello there.' });
    await compare('/v1/embeddings', { model: 'text-embedding-3-small', input: ['the red house', 'a red home'] });
    const recording = await quote('/v1/audio/transcriptions', { model: 'whisper-1', file: { duration_seconds: 59.5 } });
    assert.deepEqual(recording.expected, { nano_usd: '6000000', usd: '0.006' });
    const sized = await quote('/v1/audio/transcriptions', { model: 'gpt-4o-transcribe', file: { bytes: 480_000 }, language: 'en' });
    assert.ok(BigInt(sized.expected.nano_usd) < BigInt(sized.maximum.nano_usd));
  });

  test('a recording for a deployment by the model behind it, and none in a format that the model does not have', async () => {
    const file = { duration_seconds: 60 };
    const deployed = await quote('/v1/audio/transcriptions', { model: 'hearing', file });
    // 600 tokens of sound and 180 of text.
    assert.equal(deployed.expected.nano_usd, String(600 * 1000 + 180 * 2000));
    const subtitles = { path: '/v1/audio/transcriptions', body: { model: 'hearing', file, response_format: 'srt' } };
    const refused = await send('/v1/quote', subtitles);
    assert.deepEqual([refused.status, refused.json.error.param], [400, 'response_format'], refused.text);
  });

  test('images by their number, or by their size and quality', async () => {
    const prompt = 'a red kite';
    const pieces = await compare('/v1/images/generations', { model: 'imagen-4.0-generate-001', prompt, n: 2 });
    assert.deepEqual([pieces.expected.usd, pieces.maximum.usd], ['0.08', '0.08']);
    await compare('/v1/images/generations', { model: 'gpt-image-1.5', prompt, size: '1024x1536', quality: 'high' });
    await compare('/v1/images/generations', { model: 'gemini-2.5-flash-image', prompt });
  });

  test("videos by the request to the upstream, including its metadata, and remixes of the caller's videos", async () => {
    const path = '/v1/video/generations';
    for (const [body, expected] of [
      [{ duration: 5 }, '0.25'],
      [{ duration: 3, metadata: { resolution: '720p' } }, '0.21'],
    ] as const)
      assert.equal((await quote(path, { model: 'grok-imagine-video', prompt: 'a red kite', ...body })).expected.usd, expected);
    const created = await send(path, { model: 'grok-imagine-video', prompt: 'a red kite', duration: 2 }, { 'x-simulator-video': 'ms=100' });
    await eventually(
      () => send('/v1/quote', { path: `/v1/videos/${created.json.id}/remix`, body: { prompt: 'blue' } }),
      ({ status, json }) => status === 200 && BigInt(json.maximum.nano_usd) > 0n,
      20_000,
    );
    const foreign = await send('/v1/quote', { path: '/v1/videos/task_unknown/remix', body: { prompt: 'blue' } });
    assert.deepEqual([foreign.status, foreign.json.error.code], [404, 'task_not_found']);
  });

  test('an invalid body is refused in the format of its path', async () => {
    for (const api of chatInterfaces) {
      const path = api.path('nothing', false);
      const body = api.body('nothing', 'hello', false);
      const [asked, called] = [await send('/v1/quote', { path, body }, api.headers), await send(path, body, api.headers)];
      assert.deepEqual([asked.status, api.errorType(asked.json)], [called.status, api.errorType(called.json)], api.dialect);
    }
    for (const [path, body] of [
      ['/v1/messages', { model: 'claude-sonnet-4-5', messages: 'none', max_tokens: 5 }],
      ['/v1/chat/completions', { model: 'gpt-4.1' }],
      ['/v1/audio/speech', { model: 'tts-1', voice: 'nova' }],
      ['/v1/embeddings', { model: 'text-embedding-3-small' }],
      ['/v1/video/generations', { model: 'grok-imagine-video', prompt: 'x', duration: 99 }],
      ['/v1/videos/generations', { model: 'grok-imagine-video', prompt: 7 }],
    ] as const) {
      // A quote works without the version that a message has to name.
      const versioned = path === '/v1/messages' ? { 'anthropic-version': '2023-06-01' } : {};
      const [asked, called] = [await send('/v1/quote', { path, body }), await send(path, body, versioned)];
      const known = String(called.headers['x-weir-request-id']);
      assert.deepEqual(
        [asked.status, asked.text.replaceAll(/req_[0-9a-z]+/g, '')],
        [called.status, called.text.replaceAll(/req_[0-9a-z]+/g, '')],
        `${path} ${known}`,
      );
    }
  });

  test('an invalid quote request is refused, and so is a path that costs nothing', async () => {
    for (const [question, code, param] of [
      [{}, 'missing_required_parameter', 'path'],
      [{ path: 7, body: {} }, 'invalid_value', 'path'],
      [{ path: '/v1/messages' }, 'missing_required_parameter', 'body'],
      [{ path: '/v1/messages', body: [] }, 'invalid_value', 'body'],
      [{ path: '/v1/models', body: {} }, 'invalid_value', 'path'],
      [{ path: '/v1/messages/count_tokens', body: {} }, 'invalid_value', 'path'],
      [{ path: '/v1/quote', body: {} }, 'invalid_value', 'path'],
      [{ path: 'https://elsewhere.example/v1/messages', body: {} }, 'invalid_value', 'path'],
      [{ path: '/v1/audio/transcriptions', body: { model: 'whisper-1' } }, undefined, undefined],
    ] as const) {
      const answer = await send('/v1/quote', question);
      assert.equal(answer.status, 400, JSON.stringify(question));
      if (code !== undefined) assert.deepEqual([answer.json.error.code, answer.json.error.param], [code, param], JSON.stringify(question));
    }
    assert.equal((await post(`${running.weir.gatewayUrl}/v1/quote`, { path: '/v1/messages', body: {} })).status, 401);
  });
});
