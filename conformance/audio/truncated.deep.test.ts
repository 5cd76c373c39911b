import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import OpenAI, { toFile } from 'openai';

import { call } from '../support/http.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { type AudioWeir, startAudioProgram } from './audio-weir.ts';
import { sendJson } from './start-audio-upstream.ts';

const recording = readFileSync(new URL('../../src/platform/media/fixtures/sine-8khz-576.flac', import.meta.url));
const firstFrame = recording.indexOf('\u00ff\u00f8', 42, 'latin1');
const notLast = Buffer.from(recording.subarray(0, firstFrame));
notLast.writeUInt8(4, 42);
/**
 * An MP3 as the reference encoder writes it by default, with space for tags before the frames. A demuxer looped forever
 * on a file that ended there.
 */
const flac = Buffer.concat([notLast, Buffer.from([0x81, 0, 0x20, 0]), Buffer.alloc(8192), recording.subarray(firstFrame)]);
const lengths = [5, 42, 60, 200, 1000, 3000, 8000, 8400, 9000, 12_000, flac.length];

/** Probes liveness until it is stopped. Resolves with the longest response time. */
function watchLiveness(gatewayUrl: string): { readonly stop: () => Promise<number> } {
  let isStopped = false;
  const watching = (async () => {
    let longestMs = 0;
    while (!isStopped) {
      const startedMs = performance.now();
      const answer = await fetch(`${gatewayUrl}/health/live`, { signal: AbortSignal.timeout(10_000) });
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      await delay(20);
    }
    return longestMs;
  })();
  return {
    stop: () => {
      isStopped = true;
      return watching;
    },
  };
}

describe('F95: truncated audio', () => {
  let running: AudioWeir<RunningWeir>;
  before(async () => {
    running = await startAudioProgram(async (_, response) => {
      // Longer than the gateway waits before it measures the recording itself.
      await delay(400);
      sendJson(response, 200, { text: 'Hello.' });
    });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a recording truncated at any length blocks nobody: it is answered, and billed by its content', async () => {
    const { client, weir } = running;
    const alive = watchLiveness(weir.gatewayUrl);
    const told = await Promise.all(
      lengths.map(async (length) => {
        const file = await toFile(flac.subarray(0, length), 't.flac');
        return (await client.audio.transcriptions.create({ model: 'whisper-1', file })).text;
      }),
    );
    assert.deepEqual(
      told,
      lengths.map(() => 'Hello.'),
    );
    const longestMs = await alive.stop();
    assert.ok(longestMs < 2000, `a liveness probe took ${longestMs} ms`);
    const rows = await running.rows(lengths.length);
    const seconds = rows.map(({ usage }) => Number(usage.inputAudioMs) / 1000).toSorted((a, b) => a - b);
    // Metadata alone is billed by its size, the smallest unit; frames are billed by their number.
    assert.deepEqual(seconds, [...Array.from({ length: lengths.length - 1 }, () => 1), 2]);
  });

  test('the process stops on request', async () => {
    const { client, weir } = running;
    const file = await toFile(flac.subarray(0, 3000), 't.flac');
    await client.audio.transcriptions.create({ model: 'whisper-1', file });
    assert.equal(await weir.stop('SIGTERM'), 0);
  });
});

describe('F95: truncated audio, with the simulated vendors in the same process', () => {
  let weir: RunningWeir;
  before(async () => {
    weir = await startWeir();
  });
  after(() => weir[Symbol.asyncDispose]());

  test('it is refused because it is not a recording, and others are answered meanwhile', async () => {
    const client = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
    const alive = watchLiveness(weir.gatewayUrl);
    const file = await toFile(flac.subarray(0, 3000), 't.flac');
    const refusal = await client.audio.transcriptions.create({ model: 'whisper-1', file }).catch((error: unknown) => error);
    assert.ok(refusal instanceof OpenAI.APIError && refusal.status === 400, String(refusal));
    const longestMs = await alive.stop();
    assert.ok(longestMs < 2000, `a liveness probe took ${longestMs} ms`);
    assert.equal((await call(`${weir.gatewayUrl}/health/live`)).status, 200);
    assert.equal(await weir.stop('SIGTERM'), 0);
  });
});
