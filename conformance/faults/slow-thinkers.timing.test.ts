import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { chatInterfaces, type ChatInterface } from '../support/interfaces.ts';
import { measureBest } from '../support/measure-best.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';

type Seen = {
  readonly headMs: number;
  readonly firstByteMs: number;
  readonly firstBytes: string;
  readonly text: string;
  readonly endMs: number;
};

/** The frames that open a stream. */
const opens: Readonly<Record<string, RegExp>> = {
  'anthropic-messages': /^event: message_start$/gm,
  'openai-responses': /^event: response\.created$/gm,
  'openai-chat': /"role":\s*"assistant"/g,
};

/** A model that thinks for this long before its first token. */
const thinksMs = 4000;
const withinMs = 1100;

describe('a model that thinks for four seconds', { concurrency: true }, () => {
  let simulated: SimulatedProgram;
  before(async () => {
    simulated = await startSimulatedProgram({
      retries: {},
      // Each model has one upstream, so that its other interfaces are translated.
      models: {
        'to-claude': { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] },
        'to-gemini': { targets: [{ upstream: 'gemini', model: 'gemini-2.5-flash' }] },
      },
    });
  });
  after(() => simulated[Symbol.asyncDispose]());

  function ask(api: ChatInterface, model: string, headers: Readonly<Record<string, string>>): Promise<Seen> {
    const { weir } = simulated;
    const startedMs = performance.now();
    const sinceMs = (): number => performance.now() - startedMs;
    return new Promise((resolve, reject) => {
      const call = request(`${weir.gatewayUrl}${api.path(model, true)}`, {
        method: 'POST',
        headers: { ...api.headers, 'content-type': 'application/json', authorization: `Bearer ${weir.apiKey}`, ...headers },
      });
      call.on('error', reject);
      call.on('response', (response) => {
        const headMs = sinceMs();
        let firstByteMs = Infinity;
        let firstBytes = '';
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          if (text === '') [firstByteMs, firstBytes] = [sinceMs(), piece];
          text += piece;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ headMs, firstByteMs, firstBytes, text, endMs: sinceMs() }));
      });
      call.end(JSON.stringify(api.body(model, 'Hello', true)));
    });
  }

  const slow = { 'x-simulator-pace': `firstTokenMs=${thinksMs}` };
  const isQuick = ({ headMs }: Seen): boolean => headMs <= withinMs;

  for (const api of chatInterfaces) {
    test(`${api.dialect}: the head arrives within 1.1 s, with the opening events if the interface has any`, async () => {
      const seen = await measureBest(() => ask(api, api.model, slow), isQuick);
      assert.ok(isQuick(seen), `${seen.headMs} ms`);
      assert.ok(seen.endMs >= thinksMs, 'it thought for the requested time');
      assert.match(seen.text, api.terminal);
      // Its first chunk already has content.
      if (api.dialect === 'gemini-generate-content') return;
      assert.match(seen.firstBytes, opens[api.dialect] ?? /never/);
      assert.ok(seen.firstByteMs <= withinMs, `${seen.firstByteMs} ms`);
    });
  }

  for (const api of chatInterfaces.filter(({ dialect }) => dialect !== 'gemini-generate-content')) {
    // One upstream sends opening events, the other sends nothing before its first content.
    for (const model of ['to-claude', 'to-gemini']) {
      test(`${api.dialect}, translated ${model}: the opening events arrive once, within 1.1 s`, async () => {
        const seen = await measureBest(
          () => ask(api, model, slow),
          ({ firstByteMs }) => firstByteMs <= withinMs,
        );
        assert.ok(seen.firstByteMs <= withinMs, `${seen.firstByteMs} ms: ${seen.firstBytes.slice(0, 200)}`);
        assert.match(seen.text, api.terminal);
        assert.equal(seen.text.match(opens[api.dialect] ?? /never/)?.length, 1);
      });
    }
  }
});
