import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { toFile } from 'openai';

import type { Receipt } from '../../src/billing/receipts/receipt.ts';
import { verifyReceipt } from '../../src/billing/receipts/verify-receipt.ts';
import { readExposition, sumSamples } from '../../src/platform/metrics/testing/read-exposition.ts';
import { runCommand } from '../programs/run-command.ts';
import { call, eventually, post } from '../support/http.ts';
import { type AudioWeir, startAudioWeir } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';

const billion = 1_000_000_000;
const embedder = 'text-embedding-3-small';
const input = 'Seven words are in this short text.';

type Case = {
  readonly name: string;
  readonly answer: (response: ServerResponse) => void;
  readonly ask: (running: AudioWeir) => Promise<string>;
  /** USD, in billionths, above the cost of any such call. */
  readonly belowNanoUsd: bigint;
  /** The gateway's own count, which is charged in place of the reported one. Absent: it is an estimate. */
  readonly measuredMs?: number;
};

const vectors = (usage: object) => (response: ServerResponse) =>
  sendJson(response, 200, { object: 'list', model: embedder, data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }], usage });
const text = (usage: object) => (response: ServerResponse) => sendJson(response, 200, { text: 'Hello.', usage });
const events =
  (...sent: readonly object[]) =>
  (response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

const idOf = (response: Response): string => {
  assert.equal(response.status, 200);
  return String(response.headers.get('x-weir-request-id'));
};
const embed: Case['ask'] = async ({ client }) => {
  const made = client.embeddings.create({ model: embedder, input, encoding_format: 'float' });
  return idOf((await made.withResponse()).response);
};
const transcribe =
  (model: string, stream = false): Case['ask'] =>
  async ({ client }) => {
    const file = await toFile(makeWav(3), 'three-seconds.wav');
    const asked = { model, file, response_format: 'json' } as const;
    const { transcriptions } = client.audio;
    const response = await (stream ? transcriptions.create({ ...asked, stream }) : transcriptions.create(asked)).asResponse();
    await response.text();
    return idOf(response);
  };
const speak: Case['ask'] = async ({ weir }) => {
  const answer = await post(
    `${weir.gatewayUrl}/v1/audio/speech`,
    { model: 'gpt-4o-mini-tts', input, voice: 'alloy', stream_format: 'sse' },
    { authorization: `Bearer ${weir.apiKey}` },
  );
  assert.equal(answer.status, 200, answer.text);
  return String(answer.headers['x-weir-request-id']);
};

const tokens = (input_tokens: unknown, output_tokens: unknown) => ({ type: 'tokens', input_tokens, output_tokens, total_tokens: billion });
const written = (usage: object) =>
  events({ type: 'transcript.text.delta', delta: 'Hello.' }, { type: 'transcript.text.done', text: 'Hello.', usage });
const spoken = (usage: object) => events({ type: 'speech.audio.delta', audio: 'AAAA' }, { type: 'speech.audio.done', usage });

const cent = 10_000_000n;
const cases: readonly Case[] = [
  ...[billion, 9000, -7, 7.5, 'many'].map((figure): Case => ({
    name: `embeddings: ${figure} input tokens for ${input.length} characters`,
    answer: vectors({ prompt_tokens: figure, total_tokens: figure }),
    ask: embed,
    belowNanoUsd: cent,
  })),
  ...(
    [
      ['a billion output tokens', tokens(14, billion)],
      ['a billion input tokens', tokens(billion, 5)],
      ['a negative count', tokens(-14, 5)],
      ['a fractional count', tokens(14, 5.5)],
      ['a count as a string', tokens('many', 5)],
    ] as const
  ).flatMap(([name, usage]): Case[] => [
    {
      name: `transcription by tokens: ${name}`,
      answer: text(usage),
      ask: transcribe('gpt-4o-transcribe'),
      belowNanoUsd: cent * 10n,
    },
    {
      name: `transcription by tokens, streamed: ${name}`,
      answer: written(usage),
      ask: transcribe('gpt-4o-transcribe', true),
      belowNanoUsd: cent * 10n,
    },
  ]),
  ...[billion, -3, 'many'].map((seconds): Case => ({
    name: `transcription by duration: ${seconds} seconds for three`,
    answer: text({ type: 'duration', seconds }),
    ask: transcribe('whisper-1'),
    belowNanoUsd: cent,
    measuredMs: 3000,
  })),
  ...(
    [
      ['a billion output tokens', tokens(12, billion)],
      ['a billion input tokens', tokens(billion, 340)],
      ['a negative count', tokens(12, -340)],
    ] as const
  ).map(([name, usage]): Case => ({
    name: `speech: ${name}`,
    answer: spoken(usage),
    ask: speak,
    belowNanoUsd: cent * 10n,
  })),
];

describe('B9: an impossible count of audio or embeddings is disputed, and does not use up a balance', () => {
  let running: AudioWeir;
  before(async () => {
    running = await startAudioWeir((_, response) => void response.end(), {
      weir: { environment: { WEIR_METRICS_PORT: '0' } },
      models: { [embedder]: { targets: [{ upstream: 'vendor', model: embedder }] } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const receiptOf = async (callId: string): Promise<Receipt> => {
    const { gatewayUrl, apiKey } = running.weir;
    const answer = await eventually(
      () => call(`${gatewayUrl}/v1/receipts/${callId}`, { headers: { authorization: `Bearer ${apiKey}` } }),
      ({ status }) => status === 200,
    );
    assert.deepEqual(verifyReceipt(answer.json).problems, []);
    return answer.json as Receipt;
  };

  const disputedIds: string[] = [];
  for (const { name, answer, ask, belowNanoUsd, measuredMs } of cases) {
    test(name, async () => {
      running.upstream.answer = (_, response) => answer(response);
      const callId = await ask(running);
      disputedIds.push(callId);
      const receipt = await receiptOf(callId);
      const [row] = receipt.rows;
      assert.ok(row?.disputed, JSON.stringify(row));
      assert.equal(row.end, 'finished');
      assert.equal(row.estimated, measuredMs === undefined);
      if (measuredMs !== undefined) assert.equal(row.usage['input_audio_ms'], measuredMs, JSON.stringify(row.usage));
      const charged = BigInt(receipt.total.nano_usd);
      assert.ok(charged > 0n, 'a broken upstream is not free');
      assert.ok(charged < belowNanoUsd, receipt.total.usd);
    });
  }

  test('they are all counted, and listed with the reported counts', async () => {
    const list = async () => {
      const { stdout } = await runCommand(['usage', '--disputed', '--json'], { WEIR_DATA_DIR: running.weir.dataDirectory });
      return JSON.parse(stdout) as readonly { readonly id: string; readonly usage_reported: unknown }[];
    };
    // The last calls are still on their way to the ledger.
    const listed = await eventually(list, ({ length }) => length >= disputedIds.length);
    assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set(disputedIds));
    for (const { usage_reported: reported } of listed) assert.ok(reported);
    const metrics = await call(running.weir.metricsUrl);
    assert.equal(sumSamples(readExposition(metrics.text), 'weir_disputed_calls_total'), cases.length);
  });

  test('plausible counts are not disputed', async () => {
    for (const [answer, ask] of [
      [vectors({ prompt_tokens: 8, total_tokens: 8 }), embed],
      [text({ ...tokens(30, 5), total_tokens: 35 }), transcribe('gpt-4o-transcribe')],
      [text({ type: 'duration', seconds: 3 }), transcribe('whisper-1')],
      [spoken({ input_tokens: 12, output_tokens: 60, total_tokens: 72 }), speak],
    ] as const) {
      running.upstream.answer = (_, response) => answer(response);
      const [row] = (await receiptOf(await ask(running))).rows;
      assert.equal(row?.disputed, undefined);
      assert.equal(row?.estimated, false);
    }
  });
});
