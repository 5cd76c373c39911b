import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { readSpeechRequest } from '../../../../dialects/openai-audio/speech-request.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { createMediaMeter } from '../../../../platform/media/media-meter.ts';
import type { AudioJob } from '../../../endpoints/audio/audio-job.ts';
import { measureSound } from '../../../endpoints/audio/measure-sound.ts';
import { nothingUsed, settleAudio } from '../../../endpoints/audio/settle-audio.ts';
import { createSpeechJob } from '../../../endpoints/audio/speech-job.ts';
import { createTranscriptionJob } from '../../../endpoints/audio/transcription-job.ts';
import { UploadSpool } from '../../../endpoints/audio/upload-spool.ts';
import { UpstreamReply } from '../../../endpoints/audio/upstream-reply.ts';
import { readEmbeddingsReport } from '../../../endpoints/embeddings/read-reply.ts';
import { createFakeExchange } from '../../exchange/testing/fake-exchange.ts';
import { settleCall } from '../settle.ts';
import { corpusCall, corpusPrices, encodeShape, readShapes, type UsageShape } from './testing/settle-shape.ts';

type AudioShape = UsageShape & {
  readonly model: string;
  /** The reply is bare sound. */
  readonly sound?: true;
};

const directory = mkdtempSync(join(tmpdir(), 'weir-shapes-'));
const spool = new UploadSpool(directory, () => 1_000_000);
const meter = createMediaMeter();
after(() => meter.close());
after(() => rmSync(directory, { recursive: true, force: true }));

const trace = { upstreamStatus: 200, durationMs: 1 };

/** Nine seconds of silence: eight-bit samples of one channel, a thousand a second. */
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

async function transcriptionJob(model: string, stream: boolean): Promise<AudioJob> {
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
    measure: (signal) => measureSound(meter, { upload, container: 'wav' }, { tenant: 'user', signal }),
  });
}

function speechJob(model: string, stream: boolean): AudioJob {
  const body = { model, input: 'Hello, world', voice: 'alloy', ...(stream ? { stream_format: 'sse' } : {}) };
  return createSpeechJob({ facts: readSpeechRequest(body, 'compatible'), body, bytes: Buffer.from(JSON.stringify(body)), headers: {} });
}

/** Sends a shape along the road of a call for sound or of sound, from the upstream's bytes to the row of the ledger. */
async function settleAudioShape(shape: AudioShape): Promise<CallEntry> {
  const { model, sound, frames } = shape;
  const fake = createFakeExchange({ dialect: chatDialects['openai-chat'], vendor: 'openai' });
  const { response, limits, timeouts } = fake.context;
  const target = { ...fake.context.target, upstreamModel: model };
  const isSpeech = /tts/.test(model);
  const job = isSpeech ? speechJob(model, frames !== undefined) : await transcriptionJob(model, frames !== undefined);
  const prepared = job.prepare(target);
  const { signal } = new AbortController();
  const reply = new UpstreamReply(target, timeouts, signal);
  reply.onResponseData(fake.controller, sound === true ? Buffer.alloc(64, 0xff) : encodeShape(shape, 'openai-chat', 'sse'));
  reply.onResponseEnd();
  const type = frames === undefined ? 'application/json' : 'text/event-stream';
  const received = { 'content-type': sound === true ? 'audio/mpeg' : type };
  const delivery = {
    response,
    received,
    headers: {},
    limits,
    stalledReaderMs: 1000,
    signal,
    onDelivering: () => {},
    client: { delivered: () => {}, onLeft: () => {} },
  };
  const opening = { ...corpusCall, requestedModel: model, upstreamModel: model, dialect: 'openai-audio', vendor: 'openai', stream: false };
  try {
    const { end, report, textCharacters } = await prepared.deliver(reply, delivery);
    return settleAudio(opening, { end, metered: await prepared.meter(report, textCharacters), report }, trace, {
      priceBook: corpusPrices,
      bounds: () => prepared.bounds(),
      possible: () => prepared.possible(),
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return settleAudio(opening, { end: 'failed', metered: nothingUsed, error }, trace, {
      priceBook: corpusPrices,
      bounds: () => prepared.bounds(),
      possible: () => prepared.possible(),
    });
  }
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

describe('M17, sound: what it says it used is what is booked and charged, to the last nano-dollar', () => {
  for (const shape of readShapes('openai-audio.json') as readonly AudioShape[])
    test(`${shape.model}: ${shape.name}`, async () => check(await settleAudioShape(shape), shape));
});

describe('M17, embeddings: what they say they used is what is booked and charged, to the last nano-dollar', () => {
  for (const shape of readShapes('openai-embeddings.json')) test(shape.name, () => check(settleEmbeddings(shape), shape));
});
