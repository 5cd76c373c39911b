import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { call, eventually } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { workerPids } from '../support/worker-pids.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { type AudioWeir, startAudioProgram } from './audio-weir.ts';
import { makeWav } from './start-audio-upstream.ts';

describe('audio of a gateway with two workers', () => {
  let running: AudioWeir<RunningWeir>;
  const auth = (key: string) => ({ authorization: `Bearer ${key}` });
  /** Waits until both workers give this answer to a key: new connections go to each worker in turn. */
  const becomes = (key: string, wanted: number) =>
    eventually(
      () =>
        Promise.all(
          Array.from({ length: 6 }, async () => {
            const headers = { ...auth(key), connection: 'close' };
            return (await call(`${running.weir.gatewayUrl}/v1/models`, { headers })).status;
          }),
        ),
      (statuses) => statuses.every((status) => status === wanted),
    );
  const speech = JSON.stringify({ model: 'tts-1', voice: 'alloy', input: 'hello' });
  before(async () => {
    running = await startAudioProgram(() => {}, {
      weir: { command: 'gateway', commandArguments: ['--workers', '2'] },
      config: { timeouts: { drainDelayMs: 0, drainMs: 5000 }, retries: { attemptsMax: 1, avoidFailing: false } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  test('requests per minute are counted before an upload is read, across all workers', async () => {
    const { weir } = running;
    const created = await runCommand(['keys', 'create', '--user', 'bob', '--name', 'few', '--rpm', '3'], {
      WEIR_DATA_DIR: weir.dataDirectory,
    });
    const key = created.stdout.trim();
    assert.match(key, /^sk-weir-/, created.stderr);
    await becomes(key, 200);
    // Sends a form without its last bytes: an authorised caller is expected to send the rest within ten seconds, any
    // other gets an answer.
    const type = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '9000000' };
    const open = Array.from({ length: 8 }, () =>
      openCall(`${weir.gatewayUrl}/v1/audio/transcriptions`, { headers: { ...auth(key), ...type }, body: 'x'.repeat(1000) }),
    );
    const statuses = (await Promise.all(open.map(({ done }) => done))).map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((one, other) => one - other),
      [408, 408, 408, 429, 429, 429, 429, 429],
    );
  });

  test('a key that is disabled during a call can finish it, and cannot start another', async () => {
    const { weir } = running;
    const created = await runCommand(['keys', 'create', '--user', 'eve', '--name', 'k'], { WEIR_DATA_DIR: weir.dataDirectory });
    const key = created.stdout.trim();
    let finish: (() => void) | undefined;
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(Buffer.alloc(1000, 1));
      finish = () => void response.end(Buffer.alloc(1000, 1));
    };
    const speak = () => openCall(`${weir.gatewayUrl}/v1/audio/speech`, { headers: auth(key), body: speech });
    await becomes(key, 200);
    const held = speak();
    assert.equal((await held.head).statusCode, 200);
    await runCommand(['keys', 'disable', 'eve/k'], { WEIR_DATA_DIR: weir.dataDirectory });
    await becomes(key, 401);
    finish?.();
    const whole = await held.done;
    assert.deepEqual([whole.end, whole.bytes.length], ['complete', 2000]);
    assert.equal((await speak().done).status, 401);
  });

  test('SIGTERM: calls that end within the grace period are complete, the others are cut or answered with an error, and all are booked', async () => {
    const { weir, upstream } = running;
    assert.equal(workerPids(weir.process.pid ?? 0).length, 2);
    const calls = upstream.calls.length;
    const ends: (() => void)[] = [];
    upstream.answer = (seen, response) => {
      if (!seen.path.endsWith('/speech')) return;
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(Buffer.alloc(1000, 1));
      ends.push(() => void response.end(Buffer.alloc(1000, 1)));
    };
    const speak = () => openCall(`${weir.gatewayUrl}/v1/audio/speech`, { headers: auth(weir.apiKey), body: speech });
    const [whole, broken] = [speak(), speak()];
    await Promise.all([whole.head, broken.head]);
    const form = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${makeWav(1).toString('latin1')}\r\n--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--x--\r\n`;
    const type = { 'content-type': 'multipart/form-data; boundary=x' };
    const written = openCall(`${weir.gatewayUrl}/v1/audio/transcriptions`, {
      headers: { ...auth(weir.apiKey), ...type },
      body: form,
    });
    await eventually(
      () => upstream.calls.length,
      (count) => count === calls + 3,
    );
    const stopped = weir.stop('SIGTERM');
    // One of the two workers, whichever it is; the other call runs until the end of the grace period.
    ends[0]?.();
    assert.equal(await stopped, 0);
    const seen = await Promise.all([whole.done, broken.done]);
    assert.deepEqual(seen.map(({ end, bytes }) => `${end} ${bytes.length}`).toSorted(), ['broken 1000', 'complete 2000']);
    const answer = await written.done;
    assert.equal(answer.status, 503, answer.text);
    const rows = await running.rows(4);
    const lastEnds = rows.slice(-3).map(({ end, usage }) => `${end} ${JSON.stringify(usage)}`);
    assert.deepEqual(lastEnds.toSorted(), ['cut {"inputCharacters":5}', 'failed {}', 'finished {"inputCharacters":5}']);
  });
});
