import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

import { type LimitsBench, startLimitsBench } from '../limits/limits-bench.ts';
import { longReply, steer } from './steer.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
/** Timers and the clock round differently. */
const earlyMs = 10;

type OnRefusal = (reply: globalThis.Response) => void | Promise<void>;

/** The reactions of the official SDKs to the gateway's own rate limits. */
describe('rate limits in the official SDKs', { concurrency: 3 }, () => {
  let bench: LimitsBench;
  before(async () => {
    bench = await startLimitsBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  /** Reports each refusal before the SDK receives it and decides how to react. */
  const watch = (onRefusal: OnRefusal): typeof fetch => {
    return async (input, init) => {
      const reply = await fetch(input, init);
      if (reply.status === 429) await onRefusal(reply);
      return reply;
    };
  };

  const clients = {
    openai: (apiKey: string, maxRetries = 0, onRefusal: OnRefusal = () => {}) => {
      const client = new OpenAI({ baseURL: `${bench.weir.gatewayUrl}/v1`, apiKey, maxRetries, fetch: watch(onRefusal) });
      return {
        ask: () => client.chat.completions.create({ model: 'gpt-4.1', messages }).withResponse(),
        hold: () => client.responses.create({ model: 'gpt-4.1', input: 'Hello', stream: true }, steer(longReply)).withResponse(),
        left: 'x-ratelimit-remaining-requests',
        limited: OpenAI.RateLimitError,
      };
    },
    anthropic: (apiKey: string, maxRetries = 0, onRefusal: OnRefusal = () => {}) => {
      const client = new Anthropic({ baseURL: bench.weir.gatewayUrl, apiKey, maxRetries, fetch: watch(onRefusal) });
      const model = 'claude-sonnet-4-5';
      return {
        ask: () => client.messages.create({ model, max_tokens: 50, messages }).withResponse(),
        hold: () => client.messages.create({ model, max_tokens: 900, messages, stream: true }, steer(longReply)).withResponse(),
        left: 'anthropic-ratelimit-requests-remaining',
        limited: Anthropic.RateLimitError,
      };
    },
  } as const;

  for (const [name, connect] of Object.entries(clients)) {
    test(`${name}: a RateLimitError has the time to wait, and headers with the remaining limits`, async () => {
      const { ask, left, limited } = connect(await bench.createKey(`${name} rpm`, { rpm: '2' }));
      assert.equal((await ask()).response.headers.get(left), '1');
      assert.equal((await ask()).response.headers.get(left), '0');
      await assert.rejects(ask(), (error) => {
        assert.ok(error instanceof limited);
        const seconds = Number(error.headers.get('retry-after'));
        assert.ok(seconds > 40 && seconds <= 60, `retry-after: ${seconds}`);
        assert.equal(error.headers.get(left), '0');
        return true;
      });
    });

    test(`${name}: retries wait as long as retry-after says, and then succeed`, async () => {
      const key = await bench.createKey(`${name} slot`, { concurrency: '1' });
      const { data, response } = await connect(key).hold();
      let told: { readonly seconds: number; readonly atMs: number } | undefined;
      // The stream that occupies the slot is disconnected, and booked, before the SDK begins to wait for its one retry.
      const leave: OnRefusal = async ({ headers }) => {
        data.controller.abort();
        await bench.ledger.row(response.headers.get('x-weir-request-id') ?? '');
        told = { seconds: Number(headers.get('retry-after')), atMs: performance.now() };
      };
      await connect(key, 1, leave).ask();
      assert.ok(told !== undefined && told.seconds >= 1 && told.seconds < 15, JSON.stringify(told));
      const waitedMs = performance.now() - told.atMs;
      assert.ok(waitedMs >= told.seconds * 1000 - earlyMs, `waited ${waitedMs} ms`);
    });

    test(`${name}: a call larger than its limit is not retried`, async () => {
      const key = await bench.createKey(`${name} large`, { tpm: '10' });
      let refusals = 0;
      await assert.rejects(connect(key, 5, () => void (refusals += 1)).ask(), connect(key).limited);
      assert.equal(refusals, 1);
    });
  }

  test('@google/genai: an ApiError of 429 has the quota and the delay in its details', async () => {
    const apiKey = await bench.createKey('genai', { rpm: '1' });
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: bench.weir.gatewayUrl } });
    const ask = () => client.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Hello' });
    await ask();
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 429);
      assert.match(error.message, /RESOURCE_EXHAUSTED/);
      assert.match(error.message, /"retryDelay":\s*"\d+s"/);
      assert.match(error.message, /GenerateRequestsPerMinutePerApiKey/);
      return true;
    });
  });
});
