import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { readSpeechRequest } from '../../../../dialects/openai-audio/speech-request.ts';
import { createMediaMeter } from '../../../../platform/media/media-meter.ts';
import { type AudioRequest, createAudioJob } from '../../../endpoints/audio/audio-job.ts';
import { measureAudio } from '../../../endpoints/audio/measure-audio.ts';
import { createSpeechJob } from '../../../endpoints/audio/speech-job.ts';
import { createTranscriptionJob } from '../../../endpoints/audio/transcription-job.ts';
import { UploadSpool } from '../../../endpoints/shared/upload-spool.ts';
import { readEmbeddingsReport } from '../../../endpoints/embeddings/read-reply.ts';
import { BytesReply } from '../../exchange/bytes-reply.ts';
import { StreamReply } from '../../exchange/stream-reply.ts';
import { createFakeExchange } from '../../exchange/testing/fake-exchange.ts';
import { WholeReply } from '../../exchange/whole-reply.ts';
import { settleCall } from '../settle.ts';
import { corpusCall, corpusPrices, encodeShape, readShapes, type UsageShape } from './testing/settle-shape.ts';

type AudioShape = UsageShape & {
  readonly model: string;
  /** The reply is audio without a container. */
  readonly sound?: true;
};

const directory = mkdtempSync(join(tmpdir(), 'weir-shapes-'));
const spool = new UploadSpool(directory, () => 1_000_000);
const meter = createMediaMeter();
after(() => meter.close());
after(() => rmSync(directory, { recursive: true, force: true }));

const trace = { upstreamStatus: 200, durationMs: 1 };

/** Nine seconds of silence: eight-bit samples of one channel, a thousand per second. */
function silentWav(): Buffer {
  const rate = 1000;
  const samples = 9 * rate;
  const wav = Buffer.alloc(44 + samples, 0x80);
  wav.write('RIFF', 0, 'latin1');
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.write('data', 36, 'latin1');
  const words = { 4: 36 + samples, 16: 16, 24: rate, 28: rate, 40: samples };
  for (const [at, value] of Object.entries(words)) wav.writeUInt32LE(value, Number(at));
  for (const [at, value] of Object.entries({ 20: 1, 22: 1, 32: 1, 34: 8 })) wav.writeUInt16LE(value, Number(at));
  return wav;
}

async function transcriptionJob(model: string, stream: boolean): Promise<AudioRequest> {
  const upload = spool.begin();
  await upload.write(silentWav());
  return createTranscriptionJob({
    facts: {
      task: 'transcribe',
      requestedModel: model,
      format: 'json',
      granularities: undefined,
      stream,
      hasPrompt: false,
      promptCharacters: 0,
      includesLogprobs: false,
    },
    form: { fields: [], file: { place: 0, filename: 'a.wav', declaredType: 'audio/wav', container: 'wav', upload } },
    headers: {},
    measure: (signal) => measureAudio(meter, { upload, container: 'wav' }, { tenant: 'user', signal }),
  });
}

function speechJob(model: string, stream: boolean): AudioRequest {
  const body = { model, input: 'Hello, world', voice: 'alloy', ...(stream ? { stream_format: 'sse' } : {}) };
  return createSpeechJob({ facts: readSpeechRequest(body, 'compatible'), body, bytes: Buffer.from(JSON.stringify(body)), headers: {} });
}

/** Sends a shape through a call of an audio endpoint, from the upstream's bytes to the ledger row. */
async function settleAudioShape(shape: AudioShape): Promise<CallEntry> {
  const { model, sound, frames } = shape;
  const fake = createFakeExchange({ dialect: chatDialects['openai-chat'], vendor: 'openai' });
  const target = { ...fake.context.target, upstreamModel: model };
  const isSpeech = /tts/.test(model);
  const asked = isSpeech ? speechJob(model, frames !== undefined) : await transcriptionJob(model, frames !== undefined);
  const opening = { ...corpusCall, requestedModel: model, upstreamModel: model, dialect: 'openai-audio', vendor: 'openai', stream: false };
  const job = createAudioJob(asked, { callId: 'req_1', clock: fake.context.clock, purchase: { priceBook: corpusPrices, ...opening } });
  const plan = await job.plan(target);
  if (plan.kind === 'local') throw new Error('sound is made by upstreams');
  const { relay } = plan;
  const context = { ...fake.context, target, relay };
  const type = frames === undefined ? 'application/json' : 'text/event-stream';
  const received = { 'content-type': sound === true ? 'audio/mpeg' : type };
  const flow = { pause: () => {}, resume: () => {}, stop: () => {} };
  const sinks = {
    bytes: () => relay.bytes && new BytesReply(context, flow, relay.bytes, { passed: {}, received }),
    whole: () => new WholeReply(context, flow, {}, true),
    stream: () => new StreamReply(context, flow, {}, 'sse'),
  };
  const reply = sinks[relay.shapeOf?.(received) ?? 'whole']();
  assert.ok(reply);
  reply.data(sound === true ? Buffer.alloc(64, 0xff) : encodeShape(shape, 'openai-chat', 'sse'));
  if (!fake.response.writableEnded) reply.end();
  const [outcome] = fake.outcomes;
  assert.ok(outcome);
  const metered = outcome.end === 'failed' ? {} : { metered: await plan.meter.count(outcome.report) };
  const bound = job.bound({ target, plan, pricingParameters: undefined });
  return settleCall(opening, { ...outcome, ...metered }, trace, { priceBook: corpusPrices, keepsReply: false, bound });
}

function settleEmbeddings({ reply }: UsageShape): CallEntry {
  const opening = { ...corpusCall, dialect: 'openai-embeddings', vendor: 'openai', stream: false };
  return settleCall(opening, { end: 'finished', complete: true, report: readEmbeddingsReport(reply) }, trace, {
    priceBook: corpusPrices,
    keepsReply: false,
  });
}

function check(row: CallEntry, { end = 'finished', estimated = false, usage, nanoUsd }: UsageShape): void {
  const { amountNanoUsd } = row.charge;
  assert.deepEqual(
    { end: row.end, estimated: row.estimated, usage: row.usage, nanoUsd: String(amountNanoUsd) },
    { end, estimated, usage, nanoUsd },
  );
}

describe('M17, audio: reported usage is booked and charged, to the last nano-dollar', () => {
  for (const shape of readShapes('openai-audio.json') as readonly AudioShape[])
    test(`${shape.model}: ${shape.name}`, async () => check(await settleAudioShape(shape), shape));
});

describe('M17, embeddings: reported usage is booked and charged, to the last nano-dollar', () => {
  for (const shape of readShapes('openai-embeddings.json')) test(shape.name, () => check(settleEmbeddings(shape), shape));
});
