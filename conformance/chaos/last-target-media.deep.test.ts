import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startSimulator, type RunningSimulator } from 'weir-simulator';

import { makeWav } from '../audio/start-audio-upstream.ts';
import { runCommand } from '../programs/run-command.ts';
import { type ChaosProxy, startChaosProxy, type Trouble } from '../support/chaos-proxy.ts';
import { isLong } from '../support/scale.ts';
import { neverOverloaded, upstreamKey } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const burst = 26;

type Ask = (url: string, key: string, text: string) => Promise<Response>;

const askJson =
  (path: string, body: (text: string) => object): Ask =>
  (url, key, text) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(text)),
    });

const sound = Uint8Array.from(makeWav(1));
const askAbout =
  (path: string): Ask =>
  (url, key, text) => {
    const form = new FormData();
    form.set('model', 'whisper-1');
    form.set('prompt', text);
    form.set('file', new Blob([sound]), 'a.wav');
    return fetch(url + path, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form });
  };

/** The endpoints that are not chats, each with a model whose only target is the failing upstream. */
const endpoints: Readonly<Record<string, Ask>> = {
  embeddings: askJson('/v1/embeddings', (input) => ({ model: 'text-embedding-3-small', input })),
  speech: askJson('/v1/audio/speech', (input) => ({ model: 'tts-1', voice: 'alloy', input })),
  transcriptions: askAbout('/v1/audio/transcriptions'),
  translations: askAbout('/v1/audio/translations'),
  videos: askJson('/v1/videos', (prompt) => ({ model: 'sora-2', prompt, seconds: '4', size: '720x1280' })),
};

const troubles: Readonly<Record<string, Trouble>> = {
  'refuses connections': { type: 'refuse' },
  'resets them': { type: 'reset', afterBytes: 0 },
  'answers 500': { type: 'status', status: 500 },
  'answers 503': { type: 'status', status: 503 },
  'refuses the credential': { type: 'status', status: 401 },
  'limits the rate': { type: 'status', status: 429, headers: { 'retry-after': '30' } },
};

/** A1 for audio, embeddings and videos: with the default retries and health. */
describe('the only target of a model that is not a chat model', () => {
  let simulator: RunningSimulator;
  let proxy: ChaosProxy;
  let weir: ServedWeir;
  const keys = new Map<string, string>();
  before(async () => {
    simulator = await startSimulator();
    const address = new URL(simulator.addresses.openai);
    proxy = await startChaosProxy(Number(address.port));
    address.port = String(proxy.port);
    const alone = { vendor: 'openai', baseUrl: address.href.replace(/\/$/, ''), apiKey: upstreamKey };
    weir = await serveWeir({ command: 'gateway', config: JSON.stringify({ upstreams: { alone }, overload: neverOverloaded }) });
    for (const user of ['one', 'other']) {
      const created = await runCommand(['keys', 'create', '--user', user, '--name', user], { WEIR_DATA_DIR: weir.dataDirectory });
      keys.set(user, created.stdout.trim());
    }
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await simulator.close();
  });

  const statusOf = async (ask: Ask, user: string, text: string): Promise<number> => {
    const answer = await ask(weir.gatewayUrl, keys.get(user) ?? '', text);
    await answer.arrayBuffer();
    return answer.status;
  };

  // One endpoint meets each trouble, and each other one two of them: their attempts are made by the same code.
  for (const [row, [endpoint, ask]] of Object.entries(endpoints).entries())
    for (const [column, [name, trouble]] of Object.entries(troubles).entries()) {
      if (!isLong && row > 0 && (row + column) % 3 !== 0) continue;
      test(`${endpoint}: a burst right after it ${name} no more is all served`, async () => {
        await proxy.set(trouble, 'reset');
        for (let number = 0; number < 12; number += 1) {
          const status = await statusOf(ask, number % 2 === 0 ? 'one' : 'other', `${name} ${number}`);
          // A video whose submission is in doubt is stored, and submitted again.
          assert.ok(status === 429 || status >= 500 || (endpoint === 'videos' && status === 200), String(status));
        }
        await proxy.set({ type: 'none' }, 'reset');
        for (const user of ['one', 'other']) {
          const statuses = await Promise.all(Array.from({ length: burst }, (_, number) => statusOf(ask, user, `burst ${number}`)));
          assert.deepEqual([...new Set(statuses)], [200]);
        }
      });
    }
});
