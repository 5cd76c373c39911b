import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

import { toFile } from 'openai';

import { eventually } from '../support/http.ts';
import { readJournal } from '../support/read-files.ts';
import { startWeir } from '../support/start-weir.ts';
import { readRows, startAudioProgram } from './audio-weir.ts';
import { makeWav } from './start-audio-upstream.ts';

/** Replies correctly and never ends, like a model that is still working. */
const begun = { 'content-type': 'audio/mpeg' };

test('kill -9 with six calls in progress: a call that the upstream had answered is charged from its request, and no other call is charged', async () => {
  const running = await startAudioProgram((call, response) => {
    const asked = call.body.toString('latin1');
    if (asked.includes('silent')) return;
    response.writeHead(200, call.path.endsWith('/speech') ? begun : { 'content-type': 'application/json' });
    response.write(call.path.endsWith('/speech') ? Buffer.alloc(3000) : '{"text":');
  });
  const { weir, client, upstream } = running;
  const { dataDirectory } = weir;
  const dropped = (asked: Promise<unknown>): void => void asked.catch(() => {});
  const speak = (model: string, input: string): void =>
    dropped(client.audio.speech.create({ model, input, voice: 'alloy' }).then((reply) => reply.arrayBuffer()));
  // It has 44,100 samples a second: by its size alone it would count as 14 seconds.
  const write = async (model: string, prompt: string): Promise<void> =>
    dropped(client.audio.transcriptions.create({ model, prompt, file: await toFile(makeWav(4.6, 44_100), 'a.wav') }));
  speak('tts-1', 'hello 👋');
  speak('tts-1', 'silent');
  speak('gpt-4o-mini-tts', 'hello there, you');
  await write('whisper-1', 'heard');
  await write('whisper-1', 'silent');
  await write('gpt-4o-transcribe', 'heard');
  await eventually(
    () => upstream.calls.length,
    (calls) => calls === 6,
  );
  // The measurement is recorded a moment after the answer began.
  await eventually(
    () => readJournal(dataDirectory),
    (journal) =>
      ['"inputAudioMs":5000', '"inputAudioTokens":50', '"usage":{"inputCharacters":7}', '"outputAudioTokens":23'].every((words) =>
        journal.includes(words),
      ),
  );
  await weir.stop('SIGKILL');
  assert.deepEqual(readdirSync(`${dataDirectory}/uploads`), []);
  const next = await startWeir({ dataDirectory });
  try {
    const rows = await eventually(
      () => readRows(dataDirectory),
      (found) => found.length === 6,
    );
    const seen = rows.map(({ requestedModel, end, usage, estimated, charge }) => ({
      model: requestedModel,
      end,
      usage,
      estimated,
      nano: String(charge.amountNanoUsd),
    }));
    const nothing = { end: 'lost', usage: {}, estimated: false, nano: '0' };
    const tokens = { inputTokens: 4, outputTokens: 23, outputAudioTokens: 23 };
    const sound = { inputTokens: 52, inputAudioTokens: 50, outputTokens: 0 };
    const order = (row: object): string => JSON.stringify(row);
    assert.deepEqual(
      seen.toSorted((one, other) => order(one).localeCompare(order(other))),
      [
        { model: 'tts-1', end: 'lost', usage: { inputCharacters: 7 }, estimated: false, nano: '105000' },
        { model: 'tts-1', ...nothing },
        { model: 'gpt-4o-mini-tts', end: 'lost', usage: tokens, estimated: true, nano: String(4 * 600 + 23 * 12_000) },
        { model: 'whisper-1', end: 'lost', usage: { inputAudioMs: 5000 }, estimated: false, nano: '500000' },
        { model: 'whisper-1', ...nothing },
        { model: 'gpt-4o-transcribe', end: 'lost', usage: sound, estimated: true, nano: String(50 * 6000 + 2 * 2500) },
      ].toSorted((one, other) => order(one).localeCompare(order(other))),
    );
  } finally {
    await next.stop('SIGKILL');
    await running[Symbol.asyncDispose]();
  }
});
