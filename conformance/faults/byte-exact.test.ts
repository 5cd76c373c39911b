import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { arrayInterface } from '../support/interfaces.ts';
import { openCall, type ReceivedReply } from '../support/open-call.ts';
import { allModes, type FaultBench, type Mode, modesInTurn, startFaultBench, streamModes } from './fault-bench.ts';

const fixedTimeMs = Date.UTC(2026, 0, 2, 3, 4, 5);

/** The bytes of the vendors that a gateway must not change, compared with the upstream's answer to a direct client. */
describe('the same bytes through the gateway as from the upstream', () => {
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultBench({ simulator: { clock: { nowMs: () => fixedTimeMs } } });
  });
  after(() => bench[Symbol.asyncDispose]());

  /** The upstream's own address for a mode, and the credential in its vendor's form. */
  function upstream(mode: Mode): { url: string; headers: Record<string, string> } {
    const { anthropic, openai, gemini } = bench.simulator.addresses;
    const path = mode.api.path(mode.api.model, mode.stream);
    const key = 'sk-upstream-0123456789abcdef';
    switch (mode.api.dialect) {
      case 'anthropic-messages':
        return { url: anthropic + path, headers: { 'x-api-key': key } };
      case 'gemini-generate-content':
        return { url: gemini + path, headers: { 'x-goog-api-key': key } };
      case 'openai-chat':
      case 'openai-responses':
        return { url: openai + path.replace('/v1', ''), headers: { authorization: `Bearer ${key}` } };
    }
  }

  /** Requests usage as the gateway would, so that both requests are the same bytes. */
  const extra = (mode: Mode): object =>
    mode.api.dialect === 'openai-chat' && mode.stream ? { stream_options: { include_usage: true } } : {};

  async function both(
    mode: Mode,
    steer: Record<string, string>,
    text = 'Grüße, 世界 😀',
  ): Promise<[direct: ReceivedReply, through: ReceivedReply]> {
    const { url, headers } = upstream(mode);
    const steering = Object.fromEntries(Object.entries(steer).map(([name, value]) => [`x-simulator-${name}`, value]));
    const body = JSON.stringify({ ...mode.api.body(mode.api.model, text, mode.stream), ...extra(mode) });
    // Ids depend on the number of earlier identical requests.
    bench.simulator.reset();
    const direct = await openCall(url, { headers: { ...mode.api.headers, ...headers, ...steering }, body }).done;
    bench.simulator.reset();
    const { call } = bench.open(mode, { steer, text, body: extra(mode) as Record<string, unknown> });
    return [direct, await call.done];
  }

  // `vary` and `x-content-type-options` are about the connection to the vendor's own web pages.
  const ownOfConnection = new Set([
    'date',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'content-length',
    'vary',
    'x-content-type-options',
  ]);

  /** Data about the operator's account, which all callers share, stays with the operator. */
  const ofAccount = /^(?:openai-(?:organization|project)|anthropic-(?:organization-id|ratelimit-.*|priority-.*)|x-ratelimit-.*)$/;

  function assertSame(direct: ReceivedReply, through: ReceivedReply): void {
    assert.equal(through.status, direct.status, through.text);
    assert.equal(through.end, 'complete');
    assert.equal(through.text, direct.text);
    assert.ok(through.bytes.equals(direct.bytes));
    for (const [name, value] of Object.entries(direct.headers)) {
      if (ownOfConnection.has(name)) continue;
      assert.deepEqual(through.headers[name], ofAccount.test(name) ? undefined : value, `reply header ${name}`);
    }
  }

  const steered: readonly (readonly [title: string, steer: Readonly<Record<string, string>>])[] = [
    ...['one', 'two', 'three'].map((seed) => [`the reply of seed ${seed} stays the same`, { seed }] as const),
    ...[1, 7, 64, 1000].map(
      (bytes) => [`the reply stays the same in pieces of ${bytes} bytes`, { pace: `chunkBytes=${bytes}`, 'output-tokens': '60' }] as const,
    ),
    ...['unknown-event', 'unknown-event;after=3', 'unknown-block', 'split-utf8', 'line-ends;kind=bom'].map(
      (fault) => [`the reply stays the same with ${fault}`, { fault }] as const,
    ),
    ['a long reply', { 'output-tokens': '20000' }],
    ['a slow drip', { fault: 'slow-drip;rate=200000', 'output-tokens': '20' }],
    ...[400, 404, 429, 500, 529].map(
      (status) => [`the vendor's error ${status}`, { fault: `status;status=${status};message=Überlastet;retry-after=3` }] as const,
    ),
    ...['max-tokens', 'refusal', 'content-filter'].map((stop) => [`stopped by ${stop}`, { stop }] as const),
    ...['absent', 'null', '{"output_tokens":"string","completion_tokens":"string","candidatesTokenCount":"string"}'].map(
      (usage) => [`the reply stays the same with usage ${usage}`, { usage }] as const,
    ),
  ];
  for (const [at, [title, steer]] of steered.entries())
    for (const mode of modesInTurn(allModes, at))
      test(`${mode.title}: ${title}`, async () => assertSame(...(await both(mode, { ...steer }))));

  for (const mode of streamModes) {
    for (const kind of ['crlf', 'cr', 'lf', 'mixed', 'comments', 'no-space']) {
      // Only server-sent events have comments and fields.
      if (mode.api === arrayInterface && (kind === 'comments' || kind === 'no-space')) continue;
      test(`${mode.title}: line ends ${kind}`, async () => {
        const [direct, through] = await both(mode, { fault: `line-ends;kind=${kind}` });
        // A lone CR at the very end may be half a line end, so the last event is closed once more; empty lines mean
        // nothing.
        assert.equal(through.text.trimEnd(), direct.text.trimEnd());
        assert.equal(through.end, 'complete');
      });
    }
    for (const fault of ['duplicate-sentinel', 'data-after-sentinel', 'malformed-event;after=3']) {
      test(`${mode.title}: ${fault}`, async () => {
        const [direct, through] = await both(mode, { fault });
        if (mode.api !== arrayInterface) return assertSame(direct, through);
        // Bytes after the closing bracket are not part of the array, and the end of a malformed element is unknown.
        const same = Array.from({ length: through.text.length }, (_, index) => index).findIndex(
          (index) => through.text[index] !== direct.text[index],
        );
        assert.ok(same === -1 || same > 500, `identical up to ${same} of ${direct.text.length}`);
      });
    }
    test(`${mode.title}: an event of a megabyte`, async () => assertSame(...(await both(mode, { fault: 'huge-event;bytes=1000000' }))));
  }

  test('a chat stream whose client did not request usage lacks only the usage chunk', async () => {
    const mode = streamModes.find(({ api }) => api.dialect === 'openai-chat');
    assert.ok(mode);
    const [direct] = await both(mode, {});
    bench.simulator.reset();
    const { call } = bench.open(mode, { text: 'Grüße, 世界 😀' });
    const through = await call.done;
    const usageChunk = direct.text.split('\n\n').filter((event) => event.includes('"choices":[]'));
    assert.equal(usageChunk.length, 1);
    const ids = /"(?:id|obfuscation)":"[^"]*"/g;
    const expected = direct.text.replace(`${usageChunk[0]}\n\n`, '');
    assert.equal(through.text.replaceAll(ids, ''), expected.replaceAll(ids, ''));
    assert.ok((await bench.rowOf(through)).charge.amountNanoUsd > 0n);
  });

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
