import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { isExact, plannedUsage, type Truth } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import { assertErrorEvent, assertFree, assertPartly, type FaultBench, startFaultBench } from './fault-bench.ts';
import { translatedModel, translating, translations } from './translated-models.ts';

/** Beside other tests; leaving.timing measures that it takes at most 200 ms. */
const noticedWithinMs = 15_000;
const canary = 'canary-of-the-prompt-5317';

/** A translated call is booked with the upstream's own counts, however it ends. */
describe('books of translated calls', { concurrency: 16 }, () => {
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultBench({ ...translating, timeouts: { idleMs: 8000 }, weir: { environment: { WEIR_LOG_LEVEL: 'debug' } } });
  });
  after(() => bench[Symbol.asyncDispose]());

  const pace = 'tokensPerSecond=200;tokensPerFrame=4';
  const slow = 'tokensPerSecond=100;tokensPerFrame=4';
  const streamed = translations.filter(({ mode }) => mode.stream);

  for (const { mode, to, title } of translations) {
    const model = translatedModel(to);

    test(`${title}: a finished call is booked exactly`, async () => {
      const reply = await bench.send(mode, { model, text: `Say something. ${canary}`, steer: { 'output-tokens': '60' } });
      assert.equal(reply.status, 200, reply.text);
      const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
      assert.ok(isExact(entry, truth), `${JSON.stringify(entry.usage)} of ${JSON.stringify(plannedUsage(truth))}`);
      assert.deepEqual([entry.end, entry.dialect, entry.translation?.upstreamDialect], ['finished', mode.api.dialect, to]);
    });

    test(`${title}: a refused credential, an error and a call without an answer are free`, async () => {
      for (const fault of ['echo-credentials', 'status;status=529', 'reset-before-headers', 'error-in-200;status=500']) {
        const reply = await bench.send(mode, { model, steer: { fault } });
        assert.ok(reply.status >= 400, `${fault}: ${reply.status}`);
        assert.ok(!(reply.text + JSON.stringify(reply.headers)).includes(upstreamKey), `${fault}: ${reply.text}`);
        assertFree(await bench.rowOf(reply));
      }
    });
  }

  for (const { mode, to, title } of streamed) {
    const model = translatedModel(to);

    for (const how of ['fin', 'rst'] as const) {
      test(`${title}: a disconnect of the client (${how}) stops the upstream, and its output until then is charged`, async () => {
        const { tag, call } = bench.open(mode, { model, steer: { pace, 'output-tokens': '2000' }, body: {} });
        await call.until((text) => text.length > 1500);
        const head = await call.head;
        const leftAtMs = Date.now();
        call.leave(how);
        const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
        assert.equal(truth.ending, 'client-closed');
        assert.ok((truth.endedAtMs ?? 0) - leftAtMs <= noticedWithinMs, `noticed after ${(truth.endedAtMs ?? 0) - leftAtMs} ms`);
        assertPartly(entry, truth, 'client-left');
      });
    }

    for (const fault of [
      'reset-mid-stream;after=5;cut=inside',
      'truncate;how=end;after=5',
      'error-event;after=5',
      'stall-mid-stream;after=5',
    ]) {
      test(`${title}: ${fault}: the client gets an error event, and is charged for the delivered output`, async () => {
        const reply = await bench.send(mode, {
          model,
          steer: { fault, 'output-tokens': '120', pace: 'tokensPerSecond=60;tokensPerFrame=4' },
        });
        assertErrorEvent(mode, reply);
        assertPartly(await bench.rowOf(reply), await bench.truthOf(reply.tag));
      });
    }
  }

  const cutting = streamed.filter(({ mode, to }) => mode.api.dialect !== 'openai-responses' && to === 'openai-responses');
  for (const { mode, to, title } of cutting) {
    test(`${title}: a reply that the gateway ends at a stop sequence is charged until there, and the upstream is stopped`, async () => {
      const stop = {
        'anthropic-messages': { stop_sequences: ['HALT'] },
        'openai-chat': { stop: ['HALT'] },
        'gemini-generate-content': { generationConfig: { stopSequences: ['HALT'] } },
        'openai-responses': {},
      }[mode.api.dialect];
      const said = `${'word '.repeat(40)}HALT ${'unheard '.repeat(800)}`;
      const reply = await bench.send(mode, {
        model: translatedModel(to),
        steer: { text: encodeURIComponent(said), pace: slow },
        body: stop,
      });
      assert.match(reply.text, mode.api.terminal);
      assert.doesNotMatch(reply.text, /HALT(?!")|unheard/);
      const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
      assert.equal(truth.ending, 'client-closed');
      assertPartly(entry, truth, 'finished');
    });
  }

  test('a client that disconnects before the head pays nothing', async () => {
    const reached = (tag: string): Promise<Truth | undefined> =>
      eventually(
        () => bench.simulator.records().find((record) => record.tag === tag),
        (record) => record !== undefined,
      );
    for (const [at, { mode, to }] of streamed.entries()) {
      const characters = 50_000 + at * 1000;
      const { tag, call } = bench.open(mode, {
        model: translatedModel(to),
        text: 'x'.repeat(characters),
        steer: { fault: 'stall-before-headers' },
      });
      await reached(tag);
      const leftAtMs = Date.now();
      call.leave('rst');
      const truth = await bench.truthOf(tag);
      assert.ok((truth.endedAtMs ?? 0) - leftAtMs <= noticedWithinMs);
      const row = await eventually(
        async () => (await bench.ledger.all()).find(({ inputCharacters }) => Math.abs(inputCharacters - characters) < 400),
        (found) => found !== undefined,
      );
      assert.ok(row);
      assertFree(row);
    }
  });

  test('afterwards the gateway is healthy, and neither prompts nor credentials were printed', async () => {
    await bench.assertSound();
    assert.ok(!bench.weir.output().includes(canary));
  });
});
