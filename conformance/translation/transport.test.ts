import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { priceBound } from '../support/audit.ts';
import { openLedger, type Ledger } from '../support/read-ledger.ts';
import { eventually, post } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { modelName, startTranslationBench, type TranslationBench } from './bench.ts';
import { translationClients } from './clients/clients.ts';
import { readGenerationArray } from './clients/read-generate.ts';
import type { Conversation } from './conversation.ts';
import { upstreamDialects } from './upstreams/upstreams.ts';

/** Streams that are slow, that a client leaves, and that are an array. */
let bench: TranslationBench;
let ledger: Ledger;
before(async () => {
  bench = await startTranslationBench({ timeouts: { heartbeatMs: 50 } });
  ledger = await openLedger(bench.weir.dataDirectory);
});
after(async () => {
  await ledger.close();
  await bench[Symbol.asyncDispose]();
});

const conversation: Conversation = { turns: [{ role: 'user', parts: ['Hello'] }] };

describe('translated streams', { concurrency: 6 }, () => {
  for (const client of translationClients) {
    for (const to of upstreamDialects) {
      if (to === client.dialect) continue;

      for (const fault of ['stall-after-headers;ms=300', 'stall-mid-stream;after=3;ms=300']) {
        test(`${client.dialect} to ${to}: heartbeats of a silent upstream change nothing (${fault})`, async () => {
          const { answer, truth } = await bench.send({ client, to, model: 'plain', stream: true, conversation, steering: { fault } });
          assert.equal(answer.status, 200, answer.text);
          assert.equal(client.readStream(answer.text).text, truth?.plannedReply?.text);
        });
      }

      test(`${client.dialect} to ${to}: a client that disconnects stops the upstream and pays for the generated part`, async () => {
        const tag = `left ${client.dialect} ${to}`;
        const { path, headers, body } = client.write(conversation, modelName('plain', to), true);
        const call = openCall(bench.weir.gatewayUrl + path, {
          headers: {
            authorization: `Bearer ${bench.weir.apiKey}`,
            ...headers,
            'x-simulator-tag': tag,
            'x-simulator-output-tokens': '800',
            // Twenty seconds: it has not ended by itself when its client disconnects, even on a machine that stalls for
            // some of them.
            'x-simulator-pace': 'tokensPerSecond=40',
          },
          body: JSON.stringify(body),
        });
        await call.until((text) => text.length > 2500);
        const { headers: replied } = await call.head;
        call.leave('rst');
        const truth = await eventually(
          () => bench.simulator.records().find((record) => record.tag === tag),
          (record) => record?.endedAtMs !== undefined,
        );
        assert.equal(truth?.ending, 'client-closed');
        const row = await ledger.row(String(replied['x-weir-request-id']));
        assert.equal(row.end, 'client-left');
        assert.ok(truth !== undefined && row.charge.amountNanoUsd <= priceBound(row, truth));
        assert.ok((row.usage.outputTokens ?? 0) > 0);
      });
    }
  }

  for (const to of upstreamDialects) {
    test(`generate content as an array, from ${to}: the body is one JSON array, whole or broken`, async () => {
      const url = `${bench.weir.gatewayUrl}/v1beta/models/${modelName('plain', to)}:streamGenerateContent`;
      const headers = {
        authorization: `Bearer ${bench.weir.apiKey}`,
        'x-simulator-text': 'Hello%20there.',
        'x-simulator-pace': 'tokensPerFrame=1',
      };
      const body = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
      assert.equal(readGenerationArray((await post(url, body, headers)).text).text, 'Hello there.');
      const broken = await post(url, body, { ...headers, 'x-simulator-fault': 'truncate;after=2;how=end' });
      const chunks = broken.json as { error?: unknown; candidates?: { finishReason?: string }[] }[];
      assert.ok(chunks.at(-1)?.error !== undefined, broken.text);
      assert.ok(!chunks.some(({ candidates }) => candidates?.[0]?.finishReason !== undefined));
    });
  }
});
