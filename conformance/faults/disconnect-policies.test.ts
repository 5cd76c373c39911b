import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { estimateTokens } from '../../src/inference/count-text-characters.ts';
import { isExact, plannedUsage, priceBound } from '../support/audit.ts';
import { call, eventually } from '../support/http.ts';
import { type OpenCall, openCall } from '../support/open-call.ts';
import { openConnections } from '../support/open-connections.ts';
import { startAudioWeir } from '../audio/audio-weir.ts';
import { makeWav } from '../audio/start-audio-upstream.ts';
import { type FaultBench, type Mode, startFaultBench, streamModes, wholeModes } from './fault-bench.ts';
import { commandOutput } from '../programs/run-command.ts';
import { translatedModel, translating, translations } from './translated-models.ts';

/**
 * Slow enough that a client can leave long before the end, even if the machine stalls for some seconds: all overdue
 * output then comes at once.
 */
const pace = { pace: 'tokensPerSecond=25;tokensPerFrame=4', 'output-tokens': '240' };
/** A reply that has not ended when its upstream is stopped, even on a busy machine. */
const long = { ...pace, 'output-tokens': '2000' };
const shown = (text: string): number => text.split(/"(?:text|content|delta)"\s*:\s*"/).length;
/** Beside other tests; leaving.timing measures that it takes at most 200 ms. */
const noticedWithinMs = 15_000;
const policies = ['abort', 'drain', 'deliver'] as const;

/** Makes a key with a policy, whose calls have a hold. */
async function createKey(dataDirectory: string, policy: string): Promise<string> {
  const made = ['keys', 'create', '--user', 'leaver', '--name', policy, '--disconnect', policy, '--spend-per-day', '1000'];
  return await commandOutput(made, { WEIR_DATA_DIR: dataDirectory });
}

/** Every way in which a reply reaches a client: unchanged, and translated. */
const roads = [
  ...[...streamModes, ...wholeModes].map((mode) => ({ mode, title: mode.title, model: undefined })),
  ...translations.map(({ mode, to, title }) => ({ mode, title, model: translatedModel(to) })),
];

/**
 * M8: the policy of the key decides how a call whose client disconnects ends, and its row says which policy applied.
 */
describe('M8: the client disconnects, and the policy of its key applies', { concurrency: 16 }, () => {
  let bench: FaultBench;
  const keys: Record<string, string> = {};
  before(async () => {
    bench = await startFaultBench({ ...translating, runsTools: true });
    for (const policy of policies) keys[policy] = await createKey(bench.weir.dataDirectory, policy);
    // The gateway loads new keys within a second or two.
    await eventually(
      () =>
        Promise.all(
          policies.map(async (policy) => (await bench.send(modeOf(0), { headers: { authorization: `Bearer ${keys[policy]}` } })).status),
        ),
      (statuses) => statuses.every((status) => status === 200),
    );
  });
  after(() => bench[Symbol.asyncDispose]());

  function modeOf(index: number): Mode {
    const mode = streamModes[index];
    assert.ok(mode);
    return mode;
  }
  const open = (mode: Mode, policy: (typeof policies)[number], steer: Readonly<Record<string, string>>, text?: string, model?: string) =>
    bench.open(mode, {
      steer,
      headers: { authorization: `Bearer ${keys[policy]}` },
      ...(text === undefined ? {} : { text }),
      ...(model === undefined ? {} : { model }),
    });

  function assertEvidence({ disconnect, durationMs }: CallEntry, policy: string, usageReported: boolean): void {
    assert.ok(disconnect);
    assert.deepEqual([disconnect.policy, disconnect.usageReported], [policy, usageReported]);
    assert.ok(disconnect.leftAfterMs <= disconnect.upstreamEndedAfterMs && disconnect.upstreamEndedAfterMs <= durationMs);
  }

  for (const mode of streamModes) {
    test(`F21, ${mode.title}: drain charges exactly the usage that the upstream reports at the end`, async () => {
      const { tag, call } = open(mode, 'drain', pace);
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      call.leave('rst');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(truth.ending, 'completed');
      assert.equal(entry.end, 'client-left');
      assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
      assertEvidence(entry, 'drain', true);
    });

    test(`F29, ${mode.title}: a disconnect just before the usage event, with drain`, async () => {
      const { tag, call } = open(mode, 'drain', { pace: 'tokensPerSecond=2000;tokensPerFrame=4', 'output-tokens': '240' });
      await call.until((text) => shown(text) > 45);
      const head = await call.head;
      call.leave('fin');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
    });

    test(`F28, ${mode.title}: drain of an upstream that breaks is charged like abort`, async () => {
      const { tag, call } = open(mode, 'drain', { ...pace, fault: 'reset-mid-stream;after=50' });
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      call.leave('rst');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(entry.end, 'client-left');
      assert.equal(entry.errorCode, undefined);
      assert.ok(entry.charge.amountNanoUsd > 0n && entry.charge.amountNanoUsd <= priceBound(entry, truth));
      assertEvidence(entry, 'drain', false);
    });

    test(`${mode.title}: deliver stops the upstream and charges no more than was delivered`, async () => {
      const { tag, call } = open(mode, 'deliver', long);
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      const leftAtMs = Date.now();
      call.leave('fin');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(truth.ending, 'client-closed');
      assert.ok((truth.endedAtMs ?? 0) - leftAtMs <= noticedWithinMs);
      assertEvidence(entry, 'deliver', false);
      assert.equal(entry.usage.outputTokens, estimateTokens(entry.disconnect?.deliveredCharacters ?? 0));
      assert.ok((entry.usage.outputTokens ?? 0) > 0);
      assert.equal(entry.usage.reasoningTokens, undefined);
    });

    test(`${mode.title}: abort is named in the row`, async () => {
      const { call } = open(mode, 'abort', long);
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      call.leave('fin');
      assertEvidence(await bench.rowOf(head), 'abort', false);
    });
  }

  const streamed = roads.filter(({ mode }) => mode.stream);
  const places = fc.sample(fc.noBias(fc.integer({ min: 1, max: 999 })), streamed.length * 2);

  for (const [index, { mode, title, model }] of streamed.entries()) {
    test(`M8, ${title}: at whichever byte the client leaves, the charge follows its policy, is above 0 and within the hold`, async () => {
      const quick = { 'output-tokens': '240', pace: 'tokensPerSecond=1500;tokensPerFrame=4' };
      const whole = await bench.send(mode, { steer: quick, ...(model === undefined ? {} : { model }) });
      for (const [at, policy] of (['deliver', index % 2 === 0 ? 'abort' : 'drain'] as const).entries()) {
        const place = places[index * 2 + at] ?? 500;
        const bytes = Math.floor((whole.text.length * place) / 1000);
        const { tag, call } = open(mode, policy, quick, undefined, model);
        await call.until((text) => text.length >= bytes);
        const head = await call.head;
        call.leave(place % 2 === 0 ? 'fin' : 'rst');
        const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
        const { amountNanoUsd } = entry.charge;
        const summary = `${policy} at ${bytes}: ${JSON.stringify([entry.end, entry.usage, plannedUsage(truth), entry.disconnect])}`;
        assert.ok(amountNanoUsd > 0n && amountNanoUsd <= BigInt(entry.heldNanoUsd ?? '0'), summary);
        if (policy === 'drain' || entry.end === 'finished') {
          assert.ok(isExact(entry, truth), summary);
          continue;
        }
        // A reply that was about to end may have ended before it was stopped.
        assert.ok(amountNanoUsd <= priceBound(entry, truth), summary);
        assertEvidence(entry, policy, false);
        if (policy === 'deliver')
          assert.equal(entry.usage.outputTokens, estimateTokens(entry.disconnect?.deliveredCharacters ?? -1), summary);
      }
    });
  }

  for (const policy of policies) {
    test(`${policy} in a tool loop: the current round ends by the policy, and no further round begins`, async () => {
      const responses = streamModes.find(({ api }) => api.dialect === 'openai-responses');
      assert.ok(responses);
      const { tag, call } = bench.open(responses, {
        model: translatedModel('anthropic-messages'),
        text: 'Search the web for the swing bridge of Eastquay',
        body: { tools: [{ type: 'web_search' }] },
        steer: { pace: 'tokensPerSecond=10;tokensPerFrame=2' },
        headers: { authorization: `Bearer ${keys[policy]}` },
      });
      await call.until((text) => text.split('response.output_text.delta').length > 10);
      const { headers } = await call.head;
      call.leave('fin');
      const entry = await bench.ledger.row(`${String(headers['x-weir-request-id'])}.2`);
      const rounds = await eventually(
        () => bench.simulator.records().filter((record) => record.tag === tag),
        (records) => records.length === 2 && records.every(({ ending }) => ending !== 'open'),
      );
      const truth = rounds[1];
      assert.ok(truth);
      assert.equal(entry.end, 'client-left');
      assert.equal(truth.ending, policy === 'drain' ? 'completed' : 'client-closed');
      assertEvidence(entry, policy, policy === 'drain');
      if (policy === 'drain') return assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
      assert.ok(entry.charge.amountNanoUsd > 0n && entry.charge.amountNanoUsd <= priceBound(entry, truth));
      if (policy === 'deliver') assert.equal(entry.usage.outputTokens, estimateTokens(entry.disconnect?.deliveredCharacters ?? -1));
    });
  }

  async function rowBySize(mode: Mode, characters: number): Promise<CallEntry> {
    const found = await eventually(
      async () => (await bench.ledger.all()).filter((row) => row.dialect === mode.api.dialect && near(row.inputCharacters, characters)),
      (rows) => rows.length === 1,
    );
    const [row] = found;
    assert.ok(row);
    return row;
  }
  const near = (count: number, characters: number): boolean => count >= characters && count < characters + 300;

  for (const [index, { mode, title, model }] of roads.filter((road) => !road.mode.stream).entries()) {
    test(`F21, ${title}: drain reads a whole reply to its end, also one of which nothing had arrived`, async () => {
      const characters = 20_000 + index * 1000;
      const { tag, call } = open(mode, 'drain', { fault: 'stall-before-headers;ms=6000' }, 'x'.repeat(characters), model);
      await eventually(
        () => bench.simulator.records().find((record) => record.tag === tag),
        (record) => record !== undefined,
      );
      call.leave('fin');
      const [entry, truth] = [await rowBySize(mode, characters), await bench.truthOf(tag)];
      assert.notEqual(truth.ending, 'client-closed');
      assert.equal(entry.end, 'client-left');
      assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
      assertEvidence(entry, 'drain', true);
    });
  }

  test('afterwards the gateway is healthy', () => bench.assertSound());
});

/** Calls that are not chats have no exchange, and the same policies. */
describe('M8: the client of a call for audio or embeddings disconnects', () => {
  type Running = Awaited<ReturnType<typeof startAudioWeir>>;
  let running: Running;
  const keys: Record<string, string> = {};
  /** Lets the upstream end its answer. */
  let goOn = Promise.withResolvers<void>();
  const usage = {
    type: 'tokens',
    total_tokens: 52,
    input_tokens: 20,
    input_token_details: { text_tokens: 0, audio_tokens: 20 },
    output_tokens: 32,
  };
  const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
  const embeddings = {
    object: 'list',
    model: 'm',
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 7, total_tokens: 7 },
  };

  before(async () => {
    running = await startAudioWeir(
      async ({ path }, response) => {
        const isStream = path.endsWith('/transcriptions');
        response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
        response.write(isStream ? event({ type: 'transcript.text.delta', delta: 'Twelve words' }) : ' ');
        await goOn.promise;
        response.end(isStream ? event({ type: 'transcript.text.done', text: 'Twelve words', usage }) : JSON.stringify(embeddings));
      },
      {
        models: { embedder: { targets: [{ upstream: 'vendor', model: 'text-embedding-3-small' }] } },
      },
    );
    for (const policy of policies) keys[policy] = await createKey(running.weir.dataDirectory, policy);
    const knows = async (policy: string): Promise<boolean> => {
      const headers = { authorization: `Bearer ${keys[policy]}`, connection: 'close' };
      return (await call(`${running.weir.gatewayUrl}/v1/models`, { headers })).status === 200;
    };
    await eventually(
      () => Promise.all(policies.map(knows)),
      (known) => !known.includes(false),
    );
  });
  after(() => running[Symbol.asyncDispose]());

  /** On a connection of its own: a pool that loses one may open another, and keep it. */
  const ask = async (policy: string, what: 'embeddings' | 'audio/transcriptions'): Promise<OpenCall> => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'gpt-4o-transcribe', stream: 'true' })) form.set(name, value);
    form.set('file', new Blob([Uint8Array.from(makeWav(2))]), 'a.wav');
    const sent = what === 'embeddings' ? Response.json({ model: 'embedder', input: 'what is to be found' }) : new Response(form);
    return openCall(`${running.weir.gatewayUrl}/v1/${what}`, {
      headers: { authorization: `Bearer ${keys[policy]}`, 'content-type': sent.headers.get('content-type') ?? '' },
      body: Buffer.from(await sent.arrayBuffer()),
    });
  };

  const expected = {
    embeddings: { read: { inputTokens: 7 }, stopped: { inputTokens: 5, outputTokens: 0 }, delivered: 0 },
    'audio/transcriptions': {
      read: { inputTokens: 20, inputAudioTokens: 20, outputTokens: 32 },
      stopped: { inputTokens: 20, inputAudioTokens: 20, outputTokens: 3 },
      delivered: 'Twelve words'.length,
    },
  } as const;

  for (const what of ['embeddings', 'audio/transcriptions'] as const)
    for (const policy of policies)
      test(`${policy}, ${what}`, async () => {
        goOn = Promise.withResolvers<void>();
        const before = (await running.rows(0)).length;
        const [asked, left] = [running.upstream.calls.length, running.upstream.left];
        const client = await ask(policy, what);
        await eventually(
          () => running.upstream.calls.length,
          (calls) => calls > asked,
        );
        if (what === 'audio/transcriptions') await client.until((text) => text.includes('Twelve words'));
        client.leave('fin');
        if (policy === 'drain') {
          await eventually(
            () => openConnections(running.weir.gatewayUrl),
            (connections) => connections === 0,
          );
          goOn.resolve();
        } else
          await eventually(
            () => running.upstream.left,
            (count) => count > left,
          );
        const row = (await running.rows(before + 1)).at(-1);
        assert.ok(row);
        const { read, stopped, delivered } = expected[what];
        assert.deepEqual([row.end, row.usage], ['client-left', policy === 'drain' ? read : stopped]);
        assert.deepEqual(
          [row.disconnect?.policy, row.disconnect?.usageReported, row.disconnect?.deliveredCharacters],
          [policy, policy === 'drain', delivered],
        );
        assert.ok(row.charge.amountNanoUsd > 0n && row.charge.amountNanoUsd <= BigInt(row.heldNanoUsd ?? '0'));
        goOn.resolve();
      });
});
