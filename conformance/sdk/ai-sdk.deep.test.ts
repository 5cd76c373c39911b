import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type AnthropicLanguageModelOptions, createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI, type GoogleGenerativeAIProviderOptions } from '@ai-sdk/google';
import { createOpenAI, type OpenAIResponsesProviderOptions } from '@ai-sdk/openai';
import {
  APICallError,
  generateText,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { z } from 'zod';

import { measureBest } from '../support/measure-best.ts';
import { startSimulatedWeir, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { assertLeft } from './assert-left.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { longReply, pixelPng, saying, steer } from './steer.ts';
import { failNext } from './vendor-failures.ts';

// Otherwise this SDK writes advice to the terminal.
globalThis.AI_SDK_LOG_WARNINGS = false;

type Connection = { readonly baseUrl: string; readonly apiKey: string };
type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;
type Provider = {
  readonly name: string;
  readonly vendor: 'openai' | 'anthropic' | 'gemini';
  readonly model: string;
  /** A model that reasons, and the setting that enables it. */
  readonly thinker: string;
  readonly thinking: ProviderOptions;
  readonly connect: (connection: Connection) => (model: string) => LanguageModel;
  readonly hasStopSequences: boolean;
  /** A field that this provider sends out of its bounds unchanged, and the message of the refusal. */
  readonly outOfBounds: { readonly topP?: number; readonly providerOptions?: ProviderOptions };
  readonly outOfBoundsWords: RegExp;
};

const providers: readonly Provider[] = [
  {
    name: 'openai.chat',
    vendor: 'openai',
    model: 'gpt-4.1',
    thinker: 'gpt-5-mini',
    thinking: {},
    connect:
      ({ baseUrl, apiKey }) =>
      (model) =>
        createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey }).chat(model),
    hasStopSequences: true,
    outOfBounds: { topP: 7 },
    outOfBoundsWords: /top_?p/i,
  },
  {
    name: 'openai.responses',
    vendor: 'openai',
    model: 'gpt-4.1',
    thinker: 'gpt-5-mini',
    thinking: {
      openai: { store: false, include: ['reasoning.encrypted_content'], reasoningSummary: 'auto' } satisfies OpenAIResponsesProviderOptions,
    },
    connect:
      ({ baseUrl, apiKey }) =>
      (model) =>
        createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey }).responses(model),
    hasStopSequences: false,
    outOfBounds: { topP: 7 },
    outOfBoundsWords: /top_?p/i,
  },
  {
    name: 'anthropic',
    vendor: 'anthropic',
    model: 'claude-sonnet-5',
    thinker: 'claude-sonnet-5',
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } satisfies AnthropicLanguageModelOptions },
    connect: ({ baseUrl, apiKey }) => createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey }),
    hasStopSequences: true,
    outOfBounds: { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 10 } } } },
    outOfBoundsWords: /budget_tokens/,
  },
  {
    name: 'google',
    vendor: 'gemini',
    model: 'gemini-2.5-flash',
    thinker: 'gemini-3-flash-preview',
    thinking: { google: { thinkingConfig: { includeThoughts: true } } satisfies GoogleGenerativeAIProviderOptions },
    connect: ({ baseUrl, apiKey }) => createGoogleGenerativeAI({ baseURL: `${baseUrl}/v1beta`, apiKey }),
    hasStopSequences: true,
    outOfBounds: { topP: 7 },
    outOfBoundsWords: /top_?p/i,
  },
];

const Forecast = z.object({ city: z.string(), days: z.array(z.object({ high: z.number(), wet: z.boolean() })) });
const weatherInput = z.object({ city: z.string() });
const stopAfter = stepCountIs(3);

/** The AI SDK with each of its providers: whole, streamed, with tools, schemas, reasoning, images and errors. */
describe('AI SDK', () => {
  let running: SimulatedWeir;
  const seen = createSeenUsage();
  const nameLeft = ({ name }: Provider): string => `left-${name.replace('.', '-')}`;
  before(async () => {
    const left = providers.map((provider) => [nameLeft(provider), { targets: [{ upstream: provider.vendor, model: provider.model }] }]);
    running = await startSimulatedWeir({ models: Object.fromEntries(left) });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const provider of providers) {
    describe(provider.name, () => {
      const left = nameLeft(provider);
      let open: (model: string) => LanguageModel;
      let model: LanguageModel;
      const see = (usage: LanguageModelUsage, of = provider.model): LanguageModelUsage => {
        assert.ok(usage.inputTokens !== undefined && usage.outputTokens !== undefined, 'the SDK got usage');
        const { cacheReadTokens: cacheRead = 0, cacheWriteTokens: cacheWrite = 0 } = usage.inputTokenDetails;
        seen.add(of, { input: usage.inputTokens, output: usage.outputTokens, cacheRead, cacheWrite });
        return usage;
      };
      const tagged = (tag: string): string => `${provider.name} ${tag}`;
      const recordOf = (tag: string) => running.simulator.records().find((record) => record.tag === tagged(tag));
      before(() => {
        open = provider.connect({ baseUrl: running.weir.gatewayUrl, apiKey: running.weir.apiKey });
        model = open(provider.model);
      });

      test('a whole call with a system prompt is answered', async () => {
        const options = saying('Grüße, 世界 🌊', { tag: tagged('system') });
        const result = await generateText({ model, system: 'Be brief.', prompt: 'Hello', maxRetries: 0, ...options });
        assert.equal(result.text, 'Grüße, 世界 🌊');
        assert.equal(result.finishReason, 'stop');
        see(result.usage);
        assert.match(JSON.stringify(recordOf('system')?.requestBody), /Be brief\./);
        assert.match(result.response.headers?.['x-weir-request-id'] ?? '', /^req_/);
      });

      test('the deltas of a stream are the text, then come reason and usage', async () => {
        const text = 'One two three, 世界 and 🚰 and so on until the end.';
        const result = streamText({ model, prompt: 'Hello', maxRetries: 0, ...saying(text) });
        const deltas: string[] = [];
        for await (const delta of result.textStream) deltas.push(delta);
        assert.equal(deltas.join(''), text);
        assert.ok(deltas.length > 2);
        assert.equal(await result.finishReason, 'stop');
        see(await result.usage);
      });

      for (const streamed of [false, true]) {
        test(`tools are run in a loop, ${streamed ? 'streamed' : 'whole'}`, async () => {
          const cities: string[] = [];
          const execute = ({ city }: { city: string }): string => {
            cities.push(city);
            return 'rain';
          };
          const tools = { get_weather: tool({ description: 'The weather of a city.', inputSchema: weatherInput, execute }) };
          const options = { model, prompt: `Weather in Bern, ${String(streamed)}?`, tools, stopWhen: stopAfter, maxRetries: 0 };
          const result = streamed ? streamText(options) : await generateText(options);
          if ('consumeStream' in result) await result.consumeStream();
          const steps = await result.steps;
          for (const step of steps) see(step.usage);
          assert.equal(steps.length, 2);
          assert.equal(steps[0]?.finishReason, 'tool-calls');
          assert.ok(cities.length > 0);
          assert.ok(await result.text);
        });
      }

      test('two parallel calls are answered by the caller', async () => {
        const tools = { get_weather: tool({ inputSchema: weatherInput, outputSchema: z.string() }) };
        const messages: ModelMessage[] = [{ role: 'user', content: 'Bern and Basel?' }];
        const firstReply = streamText({ model, messages, tools, maxRetries: 0, ...steer({ 'tool-calls': 2 }) });
        const calls = await firstReply.toolCalls;
        see(await firstReply.usage);
        assert.equal(calls.length, 2);
        messages.push(...(await firstReply.response).messages, {
          role: 'tool',
          content: calls.map(({ toolCallId, toolName }) => ({
            type: 'tool-result',
            toolCallId,
            toolName,
            output: { type: 'text', value: 'rain' },
          })),
        });
        const answered = await generateText({ model, messages, tools, maxRetries: 0 });
        see(answered.usage);
        assert.ok(answered.text);
      });

      test('structured output follows the schema, whole and streamed', async () => {
        const output = Output.object({ schema: Forecast });
        const whole = await generateText({ model, prompt: 'Hello', output, maxOutputTokens: 2000, maxRetries: 0 });
        see(whole.usage);
        Forecast.parse(whole.output);
        const streamed = streamText({ model, prompt: 'Hello', output, maxOutputTokens: 2000, maxRetries: 0 });
        let partials = 0;
        for await (const _ of streamed.partialOutputStream) partials += 1;
        see(await streamed.usage);
        assert.ok(partials > 0);
        Forecast.parse(await streamed.output);
      });

      test('reasoning is sent back with the tool results and is accepted', async () => {
        const tools = { get_weather: tool({ inputSchema: weatherInput, execute: () => 'snow' }) };
        const result = await generateText({
          model: open(provider.thinker),
          prompt: 'Weather in Chur?',
          tools,
          stopWhen: stopAfter,
          providerOptions: provider.thinking,
          maxOutputTokens: 3000,
          maxRetries: 0,
        });
        for (const step of result.steps) see(step.usage, provider.thinker);
        assert.equal(result.steps.length, 2);
        assert.ok((result.steps[0]?.usage.outputTokenDetails.reasoningTokens ?? 1) > 0);
        // Chat completions of this vendor do not show their reasoning.
        if (provider.name !== 'openai.chat') assert.ok(result.steps[0]?.reasoningText);
        assert.ok(result.text);
      });

      test('an image reaches the vendor unchanged', async () => {
        const messages: ModelMessage[] = [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', image: pixelPng, mediaType: 'image/png' },
            ],
          },
        ];
        const result = await generateText({ model, messages, maxRetries: 0, ...steer({ tag: tagged('image') }) });
        see(result.usage);
        assert.ok(JSON.stringify(recordOf('image')?.requestBody).includes(pixelPng));
      });

      test('an output limit and a stop sequence end the reply', async () => {
        const limited = await generateText({
          model,
          prompt: 'Hello',
          maxOutputTokens: 100,
          maxRetries: 0,
          ...steer({ 'output-tokens': 500 }),
        });
        assert.equal(see(limited.usage).outputTokens, 100);
        assert.equal(limited.finishReason, 'length');
        if (!provider.hasStopSequences) return;
        const options = saying('before STOP after');
        const stopped = await generateText({ model, prompt: 'Hello', stopSequences: ['STOP'], maxRetries: 0, ...options });
        see(stopped.usage);
        assert.equal(stopped.text, 'before ');
      });

      test('the vendor notices a client that disconnects, and the client pays for the received part', async () => {
        const controller = new AbortController();
        const result = streamText({
          model: open(left),
          prompt: 'Hello',
          maxRetries: 0,
          maxOutputTokens: 4000,
          abortSignal: controller.signal,
          ...steer({ ...longReply, tag: tagged('left') }),
        });
        let characters = 0;
        let leftAtMs = 0;
        let aborted = false;
        for await (const part of result.fullStream) {
          if (part.type === 'abort') aborted = true;
          if (part.type === 'text-delta') characters += part.text.length;
          if (characters < 20 || leftAtMs > 0) continue;
          leftAtMs = Date.now();
          controller.abort();
        }
        assert.ok(aborted);
        await assertLeft(running, { tag: tagged('left'), model: left, characters, leftAtMs });
      });

      test('each status of the vendor is an APICallError with the status and the vendor’s message', async () => {
        for (const [status, isRetryable] of [
          [400, false],
          [404, false],
          [409, true],
          [422, false],
          [429, true],
          [500, true],
          [503, true],
        ] as const) {
          const options = steer({ fault: `status;status=${status};message=Words of the vendor.` });
          await assert.rejects(generateText({ model, prompt: 'Hello', maxRetries: 0, ...options }), (error) => {
            assert.ok(APICallError.isInstance(error), String(error));
            assert.equal(error.statusCode, status);
            assert.equal(error.isRetryable, isRetryable);
            assert.match(error.message, /Words of the vendor\./);
            return true;
          });
        }
      });

      test('a wrong key, an unknown model, a field out of its bounds and an unreachable gateway raise errors', async () => {
        const status = (expected: number | undefined, words: RegExp) => (error: unknown) => {
          assert.ok(APICallError.isInstance(error), String(error));
          assert.equal(error.statusCode, expected);
          assert.match(error.message, words);
          return true;
        };
        const options = { prompt: 'Hello', maxRetries: 0, ...steer({ tag: tagged('refused') }) };
        const stranger = provider.connect({ baseUrl: running.weir.gatewayUrl, apiKey: 'sk-weir-surely-not-a-key' });
        await assert.rejects(generateText({ ...options, model: stranger(provider.model) }), status(401, /API key/));
        const unknownStatus = provider.name === 'openai.responses' ? 400 : 404;
        await assert.rejects(generateText({ ...options, model: open('no-such-model') }), status(unknownStatus, /no-such-model/));
        await assert.rejects(generateText({ ...options, model, ...provider.outOfBounds }), status(400, provider.outOfBoundsWords));
        const gone = provider.connect({ baseUrl: 'http://127.0.0.1:9', apiKey: 'x' });
        await assert.rejects(generateText({ ...options, model: gone(provider.model) }), status(undefined, /connect/i));
        assert.equal(recordOf('refused'), undefined, 'no vendor was called');
      });

      test('the operator’s key stays secret', async () => {
        for (const fault of ['status;status=401', 'echo-credentials', 'echo-credentials;status=500']) {
          await assert.rejects(generateText({ model, prompt: 'Hello', maxRetries: 0, ...steer({ fault }) }), (error) => {
            assert.ok(APICallError.isInstance(error), String(error));
            assert.notEqual(error.statusCode, 401);
            const shown = JSON.stringify([error.message, error.responseBody, error.responseHeaders]);
            assert.ok(!shown.includes(upstreamKey), `${fault} shows the key: ${shown}`);
            return true;
          });
        }
      });

      test('the SDK retries after a rate limit and succeeds, and only the answer is booked', async () => {
        const comeBack = async (): Promise<number> => {
          await failNext(running, provider.vendor, 'status;status=429;retry-after-ms=20');
          const before = running.simulator.records().length;
          const startedMs = performance.now();
          const result = await generateText({ model, prompt: 'Hello', maxRetries: 2 });
          const ms = performance.now() - startedMs;
          see(result.usage);
          assert.equal(running.simulator.records().length - before, 2);
          return ms;
        };
        // By itself it would wait for two seconds.
        const ms = await measureBest(comeBack, (taken) => taken < 2000);
        assert.ok(ms < 2000, `the vendor's retry-after reached the SDK: ${ms} ms`);
      });
    });
  }

  test("the books match the SDK's usage", () => assertBooksAgree(running.weir, seen, providers.map(nameLeft)));
});
