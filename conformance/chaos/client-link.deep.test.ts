import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type FaultBench, type Mode, startFaultProgram, streamModes, wholeModes } from '../faults/fault-bench.ts';
import { auditBooks, type ClientView } from '../support/audit.ts';
import { type LocalChaosProxy, startChaosProxy, type Trouble } from '../support/chaos-proxy.ts';
import { coverPairs } from '../support/cover-pairs.ts';
import { eventually } from '../support/http.ts';
import { openCall, type ReceivedReply } from '../support/open-call.ts';
import { chatDialects } from '../../src/dialects/registry.ts';

const stalledReaderMs = 600;
const modes = [...wholeModes, ...streamModes];
const places = [1, 100, 400, 800, 1600, 3200];
const cuts = coverPairs(
  modes.flatMap((mode) => places.flatMap((afterBytes) => (['fin', 'reset'] as const).map((type) => ({ mode, afterBytes, type })))),
  ({ mode, afterBytes, type }) => [mode.title, `${afterBytes}`, type],
);

/**
 * On a bad network between clients and the gateway, the data that arrives is correct, every call ends, and the books
 * are those of the upstream.
 */
describe('a bad link between client and gateway', () => {
  let bench: FaultBench;
  let proxy: LocalChaosProxy;
  const views: ClientView[] = [];
  before(async () => {
    bench = await startFaultProgram({ timeouts: { stalledReaderMs } });
    proxy = await startChaosProxy(Number(new URL(bench.weir.gatewayUrl).port));
  });
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  /** Unique among the calls: it identifies them where the client never got an id. */
  let number = 0;
  async function ask(mode: Mode, trouble: Trouble, steer: Readonly<Record<string, string>> = {}, limitMs = 60_000): Promise<ReceivedReply> {
    const { api, stream } = mode;
    number += 1;
    const tag = `link-${number}`;
    const body = api.body(api.model, `link ${'.'.repeat(number)}`, stream);
    const { inputCharacters } = chatDialects[api.dialect].readFacts({
      operation: 'generate',
      body: body as never,
      headers: {},
      pathModel: api.model,
    });
    await proxy.set(trouble);
    const steering = Object.fromEntries(Object.entries(steer).map(([name, value]) => [`x-simulator-${name}`, value]));
    const reply = await openCall(`http://127.0.0.1:${proxy.port}${api.path(api.model, stream)}`, {
      headers: { authorization: `Bearer ${bench.weir.apiKey}`, ...api.headers, ...steering, 'x-simulator-tag': tag },
      body: JSON.stringify(body),
      limitMs,
    }).done;
    const id = reply.headers['x-weir-request-id'];
    const complete = reply.end === 'complete' && reply.status === 200 && (!stream || api.terminal.test(reply.text));
    views.push({
      tag,
      inputCharacters,
      dialect: api.dialect,
      callId: typeof id === 'string' ? id : undefined,
      status: reply.status,
      complete,
      left: !complete,
    });
    return reply;
  }

  for (const mode of modes) {
    test(`${mode.title}: a slow link with delays delivers everything`, async () => {
      for (const trouble of [
        { type: 'delay', ms: 80 },
        { type: 'slow', bytesPerSecond: 40_000 },
      ] as const) {
        const reply = await ask(mode, trouble);
        assert.deepEqual([reply.status, reply.end], [200, 'complete'], reply.text);
        if (mode.stream) assert.match(reply.text, mode.api.terminal);
      }
    });

    test(`${mode.title}: a reply cut anywhere never looks complete, unless it is`, async () => {
      for (const { type, afterBytes } of cuts.filter((cut) => cut.mode === mode)) {
        const reply = await ask(mode, { type, afterBytes }, { 'output-tokens': '200', pace: 'tokensPerSecond=4000;tokensPerFrame=4' });
        if (reply.end === 'complete' && mode.stream) assert.match(reply.text, mode.api.terminal);
      }
    });
  }

  const chat = streamModes.find(({ api }) => api.dialect === 'openai-chat');
  assert.ok(chat);

  test('a link that dies silently under a stream: the call is cancelled, and the upstream stopped', async () => {
    const tag = `link-${number + 1}`;
    const asked = ask(chat, { type: 'stall', afterBytes: 2000 }, { 'output-tokens': '800000' });
    const truth = await bench.truthOf(tag);
    assert.equal(truth.ending, 'client-closed');
    assert.ok(truth.emittedTokens < 800_000);
    await proxy.set({ type: 'none' }, 'reset');
    assert.equal((await asked).end, 'broken');
  });

  test('afterwards every call that reached an upstream is booked once, and no call is charged too much', async () => {
    await proxy.set({ type: 'none' }, 'reset');
    await eventually(
      () => bench.simulator.records().filter(({ ending }) => ending === 'open').length,
      (open) => open === 0,
    );
    const reached = bench.simulator.records().length;
    await eventually(
      async () => (await bench.ledger.all()).length,
      (rows) => rows >= reached,
    );
    const audit = auditBooks({ entries: await bench.ledger.all(), truths: bench.simulator.records(), clients: views, lostTokensMax: 0 });
    assert.deepEqual(audit.problems, []);
    await bench.assertSound();
  });
});
