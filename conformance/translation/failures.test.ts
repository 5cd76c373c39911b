import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startTranslationBench, type TranslationBench } from './bench.ts';
import { translationClients } from './clients/clients.ts';
import type { Conversation } from './conversation.ts';
import { breaks, failures } from './failures.ts';
import { upstreamDialects } from './upstreams/upstreams.ts';

/** Errors of upstreams instead of a reply, in the format of a client of another interface. */
let bench: TranslationBench;
before(async () => {
  bench = await startTranslationBench();
});
after(() => bench[Symbol.asyncDispose]());

const conversation: Conversation = { turns: [{ role: 'user', parts: ['Hello'] }] };

for (const client of translationClients) {
  describe(`a client of ${client.title}`, () => {
    for (const to of upstreamDialects) {
      if (to === client.dialect) continue;
      const call = { client, to, model: 'plain', conversation } as const;

      for (const { name, fault, told, message, retryAfter } of failures) {
        test(`${to}: ${name}`, async () => {
          const [status, type] = told[client.dialect];
          for (const stream of [false, true]) {
            const { answer } = await bench.send({ ...call, stream, steering: { fault } });
            if (status === 'some failure') assert.ok(answer.status >= 500, answer.text);
            else assert.equal(answer.status, status, answer.text);
            assert.match(String(answer.headers['content-type']), /^application\/json/);
            const error = client.readError(answer.status, answer.json);
            assert.match(error.type, type);
            assert.match(error.message, message?.[client.dialect] ?? /./);
            // No client may look for the cause in its own key.
            if (status === 503) assert.doesNotMatch(error.message, /api key provided|x-api-key/i);
            assert.equal(answer.headers['retry-after'], retryAfter);
          }
        });
      }

      for (const { name, fault, not } of breaks) {
        if (to === not) continue;
        test(`${to}: ${name}`, async () => {
          // Slow enough that the first text reaches the client separately.
          const pace = 'tokensPerSecond=40;tokensPerFrame=2';
          const { answer } = await bench.send({ ...call, stream: true, steering: { fault, pace, 'output-tokens': '40' } });
          assert.equal(answer.status, 200, answer.text);
          assert.match(client.readBrokenStream(answer.text).message, /./);
        });
      }

      test(`${to}: a stream that breaks before its first text has an error status`, async () => {
        const { answer } = await bench.send({ ...call, stream: true, steering: { fault: 'error-event;after=0' } });
        assert.ok(answer.status >= 500, answer.text);
        assert.ok(client.readError(answer.status, answer.json).message !== '');
      });
    }
  });
}
