import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import OpenAI from 'openai';
import { z } from 'zod';
import type { CallRecord } from './call-records.ts';
import { startSimulator, type RunningSimulator, type SimulatorOptions } from './start-simulator.ts';

const directory = mkdtempSync(join(tmpdir(), 'simulator-'));
const recordFile = join(directory, 'calls.jsonl');
let simulator: RunningSimulator;

before(async () => {
  simulator = await startSimulator({ seed: 'start', recordFile, clock: { nowMs: () => Date.UTC(2026, 10, 20) } });
});
beforeEach(() => simulator.reset());
after(async () => {
  await simulator.close();
  rmSync(directory, { recursive: true });
});

const json = { 'content-type': 'application/json' };
const anthropicHeaders = { ...json, 'x-api-key': 'sk-secret', 'anthropic-version': '2023-06-01' };

function postMessage(base: string, changes: object = {}, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ model: 'claude-test', max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }], ...changes });
  return fetch(`${base}/v1/messages`, { method: 'POST', headers: { ...anthropicHeaders, ...headers }, body });
}

function control(path: string, method = 'GET', body?: unknown): Promise<Response> {
  return fetch(`${simulator.controlUrl}${path}`, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

async function settle(): Promise<readonly CallRecord[]> {
  for (let tries = 0; simulator.records().some((call) => call.ending === 'open') && tries < 10_000; tries++)
    await new Promise((resolve) => setTimeout(resolve, 2));
  return simulator.records();
}

test('two simulators with one seed answer byte for byte alike', async () => {
  const options: SimulatorOptions = { seed: 'same', clock: { nowMs: () => 0 } };
  const [first, second] = [await startSimulator(options), await startSimulator(options)];
  try {
    for (const changes of [{}, { stream: true }, { stream: true }]) {
      const replies = await Promise.all([first, second].map((each) => postMessage(each.addresses.anthropic, changes)));
      const [one, two] = await Promise.all(replies.map((reply) => reply.text()));
      assert.equal(one, two);
      assert.equal(replies[0]?.headers.get('request-id'), replies[1]?.headers.get('request-id'));
    }
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
});

test('every vendor answers at its base address, and each call is recorded', async () => {
  const { addresses } = simulator;
  const bearer = { ...json, authorization: 'Bearer sk-secret' };
  const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] });
  const replies = [
    await postMessage(addresses.anthropic),
    await fetch(`${addresses.openai}/chat/completions`, { method: 'POST', headers: bearer, body: chat }),
    await fetch(`${addresses.openai}/responses`, { method: 'POST', headers: bearer, body: JSON.stringify({ model: 'm', input: 'Hello' }) }),
    await fetch(`${addresses.xai}/chat/completions`, { method: 'POST', headers: bearer, body: chat }),
    await fetch(`${addresses.gemini}/v1beta/models/m:generateContent?key=sk-secret`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    }),
  ];
  for (const reply of replies) {
    assert.equal(reply.status, 200);
    assert.match(await reply.text(), /This is a simulated reply from m|This is a simulated reply from claude-test/);
  }
  const calls = await settle();
  assert.deepEqual(
    calls.map((call) => call.vendor),
    ['anthropic', 'openai', 'openai', 'xai', 'gemini'],
  );
  for (const call of calls) {
    assert.equal(call.ending, 'completed');
    assert.ok(call.model === 'm' || call.model === 'claude-test');
    assert.ok(call.plannedUsage !== undefined && call.reportedUsage !== undefined);
    assert.equal(call.emittedTokens, call.plannedUsage.outputTokens);
  }
  assert.ok(!JSON.stringify(calls).includes('sk-secret'), 'no credential is stored');
  assert.match(calls[4]?.path ?? '', /key=sha256:[0-9a-f]{16}$/);
  assert.equal(calls[0]?.requestHeaders['x-api-key'], calls[1]?.requestHeaders['authorization']?.replace('Bearer ', ''));
  assert.equal(calls[0]?.requestId, replies[0]?.headers.get('request-id'));
  assert.equal(calls[1]?.requestId, replies[1]?.headers.get('x-request-id'));
});

test('an unknown route, broken JSON, a wrong content type and a compressed body are refused', async () => {
  const url = `${simulator.addresses.anthropic}/v1/messages`;
  const cases: [string, RequestInit, number][] = [
    [`${simulator.addresses.anthropic}/v1/nothing`, { method: 'POST', headers: anthropicHeaders, body: '{}' }, 404],
    [url, { method: 'POST', headers: anthropicHeaders, body: '{"model":' }, 400],
    [url, { method: 'POST', headers: anthropicHeaders, body: '[]' }, 400],
    [url, { method: 'POST', headers: { ...anthropicHeaders, 'content-type': 'text/plain' }, body: '{}' }, 415],
    [url, { method: 'POST', headers: { ...anthropicHeaders, 'content-encoding': 'gzip' }, body: '{}' }, 415],
    [url, { method: 'POST', headers: { ...anthropicHeaders, 'x-simulator-stop': 'never' }, body: '{}' }, 400],
  ];
  for (const [address, init, status] of cases) {
    const reply = await fetch(address, init);
    assert.equal(reply.status, status);
    assert.equal(((await reply.json()) as { type: string }).type, 'error');
  }
  const calls = await settle();
  assert.deepEqual(new Set(calls.map((call) => call.ending)), new Set(['refused']));
  assert.ok(calls.every((call) => call.plannedUsage === undefined));
});

test('known keys: others are refused as each vendor refuses them', async () => {
  const strict = await startSimulator({ apiKeys: ['right'] });
  try {
    assert.equal((await postMessage(strict.addresses.anthropic, {}, { 'x-api-key': 'right' })).status, 200);
    assert.match(await (await postMessage(strict.addresses.anthropic, {}, { 'x-api-key': 'wrong' })).text(), /invalid x-api-key/);
    const wrong = { headers: { authorization: 'Bearer wrong-key-wrong' } };
    const openai = await fetch(`${strict.addresses.openai}/models`, wrong);
    assert.equal(openai.status, 401);
    assert.match(await openai.text(), /Incorrect API key provided: wron\*+rong\. .*"code":"invalid_api_key"/);
    const xai = await fetch(`${strict.addresses.xai}/models`, wrong);
    assert.equal(xai.status, 400);
    assert.match(await xai.text(), /Incorrect API key provided: wr\*\*\*ng/);
  } finally {
    await strict.close();
  }
});

test('the control server has calls by tag and id, settings, queued faults and a reset', async () => {
  await postMessage(simulator.addresses.anthropic, {}, { 'x-simulator-tag': 'mine' });
  await postMessage(simulator.addresses.anthropic);
  await settle();
  const [mine, ...others] = (await (await control('/calls?tag=mine')).json()) as CallRecord[];
  assert.deepEqual([mine?.tag, others.length], ['mine', 0]);
  assert.deepEqual(await (await control(`/calls/${mine?.id}`)).json(), mine);
  assert.equal((await control('/calls/999999')).status, 404);
  assert.equal((await control('/health')).status, 200);
  const changed = await control('/settings', 'POST', {
    pace: { firstTokenMs: 1 },
    faults: ['html', { fault: 'status;status=529', vendor: 'anthropic', times: null }],
  });
  assert.deepEqual(await changed.json(), {
    seed: 'start',
    pace: { tokensPerSecond: 0, firstTokenMs: 1, tokensPerFrame: 4, chunkBytes: 0 },
    video: {},
    faults: [
      { fault: 'html', times: 1, every: 1 },
      { fault: 'status;status=529', vendor: 'anthropic', times: null, every: 1 },
    ],
  });
  assert.match((await postMessage(simulator.addresses.anthropic)).headers.get('content-type') ?? '', /text\/html/);
  assert.equal((await postMessage(simulator.addresses.anthropic)).status, 529);
  assert.equal((await control('/calls', 'DELETE')).status, 204);
  assert.equal(simulator.records().length, 0);
  assert.equal((await control('/reset', 'POST')).status, 204);
  assert.equal((await postMessage(simulator.addresses.anthropic)).status, 200);
  for (const wrong of [{ pace: { speed: 1 } }, { faults: ['nonsense'] }, { more: 1 }])
    assert.equal((await control('/settings', 'POST', wrong)).status, 400);
});

test('a reset and a new simulator both begin without caches', async () => {
  const changes = { system: [{ type: 'text', text: 'x'.repeat(80), cache_control: { type: 'ephemeral' } }] };
  const reads = async (): Promise<unknown> =>
    ((await (await postMessage(simulator.addresses.anthropic, changes)).json()) as { usage: Record<string, unknown> }).usage[
      'cache_read_input_tokens'
    ];
  assert.deepEqual([await reads(), await reads()], [0, 20]);
  simulator.reset();
  assert.equal(await reads(), 0);
});

test('a call whose answer a fault prevented leaves no trace in the cache, a truncated one does', async () => {
  const changes = { stream: true, system: [{ type: 'text', text: 'y'.repeat(80), cache_control: { type: 'ephemeral' } }] };
  const usageAfter = async (fault: string): Promise<CallRecord['plannedUsage']> => {
    simulator.reset();
    await postMessage(simulator.addresses.anthropic, changes, { 'x-simulator-fault': fault })
      .then((reply) => reply.text())
      .catch(() => undefined);
    await (await postMessage(simulator.addresses.anthropic, changes)).text();
    return (await settle()).at(-1)?.plannedUsage;
  };
  assert.equal((await usageAfter('status;status=529'))?.cacheReadTokens, 0);
  assert.equal((await usageAfter('reset-before-headers'))?.cacheReadTokens, 0);
  assert.equal((await usageAfter('truncate'))?.cacheReadTokens, 20);
});

test('record file: a call has a line when it arrives and one when it ends, without keys and bodies', async () => {
  await (
    await postMessage(
      simulator.addresses.anthropic,
      { messages: [{ role: 'user', content: 'private words' }] },
      { 'x-simulator-tag': 'filed' },
    )
  ).text();
  await settle();
  const text = readFileSync(recordFile, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CallRecord)
    .filter((call) => call.tag === 'filed');
  assert.deepEqual(
    lines.map((call) => call.ending),
    ['open', 'completed'],
  );
  assert.ok(lines[1]?.reportedUsage !== undefined);
  assert.ok(!text.includes('sk-secret') && !text.includes('private words'));
});

test('if a port is in use the start fails and no port stays open', async () => {
  const taken = Number(new URL(simulator.controlUrl).port);
  await assert.rejects(startSimulator({ ports: { control: taken } }), /EADDRINUSE/);
});

test('the official SDK of the Messages interface can stream and run a tool loop on a thread', async () => {
  const client = new Anthropic({ baseURL: simulator.addresses.anthropic, apiKey: 'k', maxRetries: 0 });
  const message = await client.messages
    .stream({ model: 'claude-opus-5-5', max_tokens: 300, messages: [{ role: 'user', content: 'Hi' }] })
    .finalMessage();
  assert.equal(message.content[0]?.type, 'text');
  const asked: unknown[] = [];
  const tool = betaZodTool({
    name: 'lookup',
    description: 'Looks up.',
    inputSchema: z.object({ query: z.string() }),
    run: (input) => {
      asked.push(input);
      return 'found';
    },
  });
  const final = await client.beta.messages.toolRunner({
    model: 'claude-opus-5-5',
    max_tokens: 300,
    tools: [tool],
    messages: [{ role: 'user', content: 'Look it up' }],
  });
  assert.ok(asked.length > 0);
  assert.equal(final.stop_reason, 'end_turn');
  const calls = await settle();
  assert.ok(
    calls.every((call) => call.ending === 'completed'),
    JSON.stringify(calls.map((call) => call.ending)),
  );
});

test('the official SDK of chat completions can stream with usage, call tools, and detect a broken stream', async () => {
  const client = new OpenAI({ baseURL: simulator.addresses.openai, apiKey: 'k', maxRetries: 0 });
  const request = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] };
  const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  assert.match(final.choices[0]?.message.content ?? '', /^This is a simulated reply from gpt-4o/);
  assert.ok((final.usage?.completion_tokens ?? 0) > 0);
  await assert.rejects(async () => {
    const broken = await client.chat.completions.create(
      { ...request, stream: true },
      { headers: { 'x-simulator-fault': 'error-event;after=2' } },
    );
    for await (const chunk of broken) assert.ok(chunk.id);
  }, /The server had an error/);
});

test('the program prints its addresses, answers, ends on SIGTERM, and refuses unknown options', async () => {
  const main = join(import.meta.dirname, 'main.ts');
  const mistyped = once(spawn(process.execPath, [main, '--sede', 'x'], { stdio: 'ignore' }), 'exit');
  const program = spawn(process.execPath, [main, '--seed', 'program', '--pace', 'tokensPerSecond=1000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(program, 'exit');
  let output = '';
  for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
    output += chunk.toString();
    if (output.includes('control ')) break;
  }
  const address = /^anthropic (\S+)$/m.exec(output)?.[1] ?? '';
  assert.equal((await postMessage(address)).status, 200);
  program.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(await mistyped, [2, null]);
});
