import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';

import { eventually } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { readBooks } from './seen-usage.ts';
import { steer } from './steer.ts';

type Headers = Readonly<Record<string, string>>;
type Reader = {
  /** The configured name of its model, one for each reader, so that the books of each can be distinguished. */
  readonly name: string;
  /**
   * Reads a whole stream of its model, or of its hasty one, as the SDK's users do. Resolves with the text, or rejects
   * if the SDK raises an error.
   */
  readonly read: (model: string, headers: Headers, onText: (text: string) => void) => Promise<string>;
};

/**
 * The name of a model whose vendor has a short time-out. It is only used for silence: on a machine that stalls, correct
 * vendors fall silent too.
 */
const hasty = (model: string): string => `${model}-hasty`;

// Clients start a new conversation if an error has this text.
const terminated = /Upstream connection error: the stream was terminated early/;
const vendorWords = /server had an error|overloaded/i;

/** Faults with the text of their error. */
const faults: readonly (readonly [fault: string, words: RegExp])[] = [
  ['reset-mid-stream;after=3', terminated],
  ['reset-mid-stream;after=3;cut=inside', terminated],
  ['truncate;after=3', terminated],
  ['truncate;after=3;how=fin', terminated],
  ['truncate;after=3;how=eof', terminated],
  ['stall-mid-stream;after=3', /Upstream connection error: .*timeout/],
  ['error-event;after=3', vendorWords],
  ['malformed-event;after=3', /JSON/],
  // Nothing of the answer has arrived yet.
  ['error-event;after=0', vendorWords],
  ['truncate;after=0', terminated],
  ['truncate;after=0;how=fin', terminated],
  ['reset-mid-stream;after=0', terminated],
];

// Otherwise this SDK writes advice to the terminal.
globalThis.AI_SDK_LOG_WARNINGS = false;

const messages = [{ role: 'user' as const, content: 'Hello' }];
/** Slow enough that the content before a break reaches the client separately. */
const sixtyTokens = { 'output-tokens': 60, pace: 'tokensPerSecond=20;tokensPerFrame=2' };

/** A stream that breaks in its middle: every SDK raises an error, and none regards its part as the whole answer. */
describe('broken streams', () => {
  let running: SimulatedWeir;
  let readers: readonly Reader[] = [];
  const openaiTarget = { upstream: 'openai', model: 'gpt-4.1' };
  const anthropicTarget = { upstream: 'anthropic', model: 'claude-sonnet-5' };
  const geminiTarget = { upstream: 'gemini', model: 'gemini-2.5-flash' };
  const targets: Readonly<Record<string, object>> = {
    'broken-chat': openaiTarget,
    'broken-chat-helper': openaiTarget,
    'broken-responses': openaiTarget,
    'broken-responses-helper': openaiTarget,
    'broken-messages': anthropicTarget,
    'broken-messages-helper': anthropicTarget,
    'broken-generate': geminiTarget,
    'broken-ai-chat': openaiTarget,
    'broken-ai-responses': openaiTarget,
    'broken-ai-messages': anthropicTarget,
    'broken-ai-generate': geminiTarget,
  };

  before(async () => {
    running = await startSimulatedWeir({
      models: Object.fromEntries(
        Object.entries(targets).flatMap(([name, target]) => [
          [name, { targets: [target] }],
          [hasty(name), { targets: [target], timeouts: { idleMs: 4000 } }],
        ]),
      ),
    });
    readers = createReaders(running.weir);
  });
  after(() => running[Symbol.asyncDispose]());

  describe('readers', { concurrency: true }, () => {
    for (const model of Object.keys(targets)) {
      describe(model, { concurrency: true }, () => {
        const find = (): Reader => readers.find(({ name }) => name === model) ?? assert.fail(`${model} has no reader`);

        test('a stream that does not break is complete', async () => {
          const tag = `${model} whole`;
          const text = await find().read(model, steer({ ...sixtyTokens, tag }).headers, () => {});
          const record = running.simulator.records().find((found) => found.tag === tag);
          assert.equal(record?.ending, 'completed');
          assert.ok(text.length > 100);
        });

        for (const [fault, words] of faults) {
          test(`${fault} raises an error`, async () => {
            let seen = '';
            const asked = fault.startsWith('stall') ? hasty(model) : model;
            await assert.rejects(
              find().read(asked, steer({ ...sixtyTokens, fault }).headers, (text) => (seen += text)),
              (error) => {
                assert.ok(error instanceof Error);
                assert.match(error.message, words);
                assert.doesNotMatch(error.message, /127\.0\.0\.1|ECONN|UND_ERR/, 'no internal detail is shown');
                return true;
              },
            );
            if (!fault.includes('after=0')) assert.ok(seen.length > 0, 'the content before the break was delivered');
          });
        }
      });
    }
  });

  test('the delivered output is booked, and a stream that broke before its first content is free', async () => {
    // Eight faults of each reader occur after content; with the complete stream that makes nine answers.
    const answers = faults.filter(([fault]) => !fault.includes('after=0')).length + 1;
    const read = async () => {
      const books = await readBooks(running.weir);
      return Object.keys(targets).map((model) => {
        const [own, silenced] = [books[model], books[hasty(model)]];
        return { model, calls: (own?.calls ?? 0) + (silenced?.calls ?? 0), output: own?.output ?? 0 };
      });
    };
    const books = await eventually(read, (found) => found.every(({ calls }) => calls >= answers)).catch(read);
    for (const { model, calls, output } of books) {
      assert.equal(calls, answers, model);
      assert.ok(output >= 60, `${model}: the complete stream has 60 tokens`);
    }
  });
});

type Weir = { readonly gatewayUrl: string; readonly apiKey: string };

function createReaders(weir: Weir): readonly Reader[] {
  return [...createOpenaiReaders(weir), ...createVendorReaders(weir), ...createAiReaders(weir)];
}

function createOpenaiReaders({ gatewayUrl, apiKey }: Weir): readonly Reader[] {
  const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0, logLevel: 'off' });
  return [
    {
      name: 'broken-chat',
      read: async (model, headers, onText) => {
        let text = '';
        for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }, { headers })) {
          const delta = chunk.choices[0]?.delta.content ?? '';
          text += delta;
          onText(delta);
        }
        return text;
      },
    },
    {
      name: 'broken-chat-helper',
      read: async (model, headers, onText) => {
        const stream = client.chat.completions.stream({ model, messages }, { headers });
        stream.on('content', (delta) => onText(delta));
        return (await stream.finalContent()) ?? '';
      },
    },
    {
      name: 'broken-responses',
      read: async (model, headers, onText) => {
        let text = '';
        for await (const event of await client.responses.create({ model, input: 'Hello', stream: true }, { headers })) {
          if (event.type !== 'response.output_text.delta') continue;
          text += event.delta;
          onText(event.delta);
        }
        return text;
      },
    },
    {
      name: 'broken-responses-helper',
      read: async (model, headers, onText) => {
        const stream = client.responses.stream({ model, input: 'Hello' }, { headers });
        stream.on('response.output_text.delta', ({ delta }) => onText(delta));
        return (await stream.finalResponse()).output_text;
      },
    },
  ];
}

function createVendorReaders({ gatewayUrl, apiKey }: Weir): readonly Reader[] {
  const anthropic = new Anthropic({ baseURL: gatewayUrl, apiKey, maxRetries: 0, logLevel: 'off' });
  const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gatewayUrl } });
  return [
    {
      name: 'broken-messages',
      read: async (model, headers, onText) => {
        let text = '';
        const stream = await anthropic.messages.create({ model, max_tokens: 500, messages, stream: true }, { headers });
        for await (const event of stream) {
          if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') continue;
          text += event.delta.text;
          onText(event.delta.text);
        }
        return text;
      },
    },
    {
      name: 'broken-messages-helper',
      read: async (model, headers, onText) => {
        const stream = anthropic.messages.stream({ model, max_tokens: 500, messages }, { headers });
        stream.on('text', (delta) => onText(delta));
        return await stream.finalText();
      },
    },
    {
      name: 'broken-generate',
      read: async (model, headers, onText) => {
        let text = '';
        const config = { httpOptions: { headers: { ...headers } } };
        const stream = await google.models.generateContentStream({ model, contents: 'Hello', config });
        for await (const chunk of stream) {
          text += chunk.text ?? '';
          onText(chunk.text ?? '');
        }
        return text;
      },
    },
  ];
}

function createAiReaders({ gatewayUrl, apiKey }: Weir): readonly Reader[] {
  const openai = createOpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey });
  const anthropic = createAnthropic({ baseURL: `${gatewayUrl}/v1`, apiKey });
  const google = createGoogleGenerativeAI({ baseURL: `${gatewayUrl}/v1beta`, apiKey });
  const reader = (name: string, open: (model: string) => LanguageModel): Reader => ({
    name,
    read: async (model, headers, onText) => {
      const result = streamText({ model: open(model), prompt: 'Hello', headers: { ...headers }, maxRetries: 0, onError: () => {} });
      let text = '';
      // This SDK reports errors as parts of the stream.
      for await (const part of result.fullStream) {
        if (part.type === 'error') throw part.error instanceof Error ? part.error : new Error(JSON.stringify(part.error));
        if (part.type === 'finish' && part.finishReason === 'error') throw new Error('the stream finished with an error');
        if (part.type !== 'text-delta') continue;
        text += part.text;
        onText(part.text);
      }
      return text;
    },
  });
  return [
    reader('broken-ai-chat', (model) => openai.chat(model)),
    reader('broken-ai-responses', (model) => openai.responses(model)),
    reader('broken-ai-messages', anthropic),
    reader('broken-ai-generate', google),
  ];
}
