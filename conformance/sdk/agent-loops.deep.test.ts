import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage, type SeenUsage } from './seen-usage.ts';
import { pixelPng, steer } from './steer.ts';

/** A model of each upstream dialect, with a name that says which. */
const models = {
  messages: { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
  responses: { upstream: 'openai', model: 'gpt-5-mini' },
  chat: { upstream: 'chat-only', model: 'gpt-4.1' },
  'generate-content': { upstream: 'gemini', model: 'gemini-3-flash-preview' },
} as const;

const question = 'What is the weather in Ulm, and what time is it there? The picture shows the place.';
const answerSchema = {
  type: 'object',
  properties: { temperature: { type: 'number' }, time: { type: 'string' } },
  required: ['temperature', 'time'],
  additionalProperties: false,
} as const;
const parameters = (name: string) => ({
  type: 'object' as const,
  properties: { [name]: { type: 'string' as const } },
  required: [name],
  additionalProperties: false,
});
const tools = [
  { name: 'get_weather', description: 'The weather of a city.', parameters: parameters('city') },
  { name: 'get_time', description: 'The time in a city.', parameters: parameters('place') },
];

/** One call of a tool, as a client receives it. */
type SeenCall = { readonly id: string; readonly name: string; readonly arguments: unknown };

/**
 * A program around one official SDK: it keeps the history in its own dialect and reports its observations in a common
 * form.
 */
type Agent = {
  /** Sends the question with the image, or the results of the last step's calls. Streams. */
  readonly step: (
    calls: readonly SeenCall[],
    options: { readonly headers: Record<string, string>; readonly answerInJson: boolean },
  ) => Promise<{ readonly calls: readonly SeenCall[]; readonly text: string }>;
};

const resultOf = (call: SeenCall): string =>
  call.name === 'get_weather' ? '{"temperature":21}' : 'The time is a quarter past nine: 09:15 🕘';

function messagesAgent(running: SimulatedWeir, model: string, seen: SeenUsage): Agent {
  const client = new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: question },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixelPng } },
      ],
    },
  ];
  return {
    step: async (calls, { headers, answerInJson }) => {
      if (calls.length > 0) {
        messages.push({
          role: 'user',
          content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: resultOf(call) })),
        });
      }
      const stream = client.messages.stream(
        {
          model,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 1024 },
          messages,
          tools: tools.map(({ name, description, parameters: schema }) => ({ name, description, input_schema: schema })),
          ...(answerInJson ? { output_config: { format: { type: 'json_schema', schema: answerSchema } } } : {}),
        },
        { headers },
      );
      const message = await stream.finalMessage();
      messages.push({ role: 'assistant', content: message.content });
      const { usage } = message;
      const cacheRead = usage.cache_read_input_tokens ?? 0;
      const cacheWrite = usage.cache_creation_input_tokens ?? 0;
      seen.add(model, { input: usage.input_tokens + cacheRead + cacheWrite, output: usage.output_tokens, cacheRead, cacheWrite });
      const made = message.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
      );
      assert.equal(message.stop_reason, made.length > 0 ? 'tool_use' : 'end_turn');
      return { calls: made, text: message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('') };
    },
  };
}

function responsesAgent(running: SimulatedWeir, model: string, seen: SeenUsage): Agent {
  const client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInputItem[] = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: question },
        { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${pixelPng}` },
      ],
    },
  ];
  return {
    step: async (calls, { headers, answerInJson }) => {
      for (const call of calls) input.push({ type: 'function_call_output', call_id: call.id, output: resultOf(call) });
      const stream = client.responses.stream(
        {
          model,
          store: false,
          include: ['reasoning.encrypted_content'],
          reasoning: { effort: 'low', summary: 'auto' },
          input,
          tools: tools.map((tool) => ({ type: 'function' as const, strict: true, ...tool })),
          ...(answerInJson
            ? { text: { format: { type: 'json_schema' as const, name: 'answer', strict: true, schema: { ...answerSchema } } } }
            : {}),
        },
        { headers },
      );
      const response = await stream.finalResponse();
      assert.equal(response.status, 'completed');
      for (const item of response.output) {
        // The SDK's parsed items have members of its own, which are not part of the interface.
        const { parsed_arguments: _parsed, ...sent } = item as typeof item & { parsed_arguments?: unknown };
        input.push(sent as OpenAI.Responses.ResponseInputItem);
      }
      const { usage } = response;
      assert.ok(usage);
      seen.add(model, { input: usage.input_tokens, output: usage.output_tokens, cacheRead: usage.input_tokens_details.cached_tokens });
      const made = response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) as unknown }] : [],
      );
      return { calls: made, text: response.output_text };
    },
  };
}

function chatAgent(running: SimulatedWeir, model: string, seen: SeenUsage): Agent {
  const client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: question },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pixelPng}` } },
      ],
    },
  ];
  return {
    step: async (calls, { headers, answerInJson }) => {
      for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: resultOf(call) });
      const stream = client.chat.completions.stream(
        {
          model,
          // The chat upstream of this test does not think; the others do.
          ...(model === 'chat' ? {} : { reasoning_effort: 'low' as const }),
          messages,
          stream_options: { include_usage: true },
          tools: tools.map((tool) => ({ type: 'function' as const, function: { strict: true, ...tool } })),
          ...(answerInJson
            ? {
                response_format: {
                  type: 'json_schema' as const,
                  json_schema: { name: 'answer', strict: true, schema: { ...answerSchema } },
                },
              }
            : {}),
        },
        { headers },
      );
      const completion = await stream.finalChatCompletion();
      const [choice] = completion.choices;
      assert.ok(choice !== undefined && completion.usage !== undefined);
      const { content } = choice.message;
      const toolCalls = (choice.message.tool_calls ?? []).filter((call) => call.type === 'function');
      messages.push({
        role: 'assistant',
        content,
        ...(toolCalls.length === 0
          ? {}
          : {
              tool_calls: toolCalls.map(({ id, type, function: { name, arguments: text } }) => ({
                id,
                type,
                function: { name, arguments: text },
              })),
            }),
      });
      seen.add(model, {
        input: completion.usage.prompt_tokens,
        output: completion.usage.completion_tokens,
        cacheRead: completion.usage.prompt_tokens_details?.cached_tokens ?? 0,
      });
      const made = toolCalls.map((call) => ({
        id: call.id,
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments) as unknown,
      }));
      assert.equal(choice.finish_reason, made.length > 0 ? 'tool_calls' : 'stop');
      return { calls: made, text: content ?? '' };
    },
  };
}

function generateContentAgent(running: SimulatedWeir, model: string, seen: SeenUsage): Agent {
  const client = new GoogleGenAI({ apiKey: running.weir.apiKey, httpOptions: { baseUrl: running.weir.gatewayUrl } });
  const contents: Content[] = [{ role: 'user', parts: [{ text: question }, { inlineData: { mimeType: 'image/png', data: pixelPng } }] }];
  return {
    step: async (calls, { headers, answerInJson }) => {
      if (calls.length > 0) {
        const parts = calls.map((call) => ({
          functionResponse: { ...(call.id === '' ? {} : { id: call.id }), name: call.name, response: { result: resultOf(call) } },
        }));
        contents.push({ role: 'user', parts });
      }
      const stream = await client.models.generateContentStream({
        model,
        contents,
        config: {
          httpOptions: { headers },
          thinkingConfig: { includeThoughts: true },
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, parameters: schema }) => ({
                name,
                description,
                parametersJsonSchema: schema,
              })),
            },
          ],
          ...(answerInJson ? { responseMimeType: 'application/json', responseJsonSchema: answerSchema } : {}),
        },
      });
      const parts: NonNullable<Content['parts']> = [];
      let usage: {
        promptTokenCount?: number;
        candidatesTokenCount?: number;
        thoughtsTokenCount?: number;
        cachedContentTokenCount?: number;
      } = {};
      let finish: string | undefined;
      for await (const chunk of stream) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
        finish = chunk.candidates?.[0]?.finishReason ?? finish;
        usage = chunk.usageMetadata ?? usage;
      }
      assert.equal(finish, 'STOP');
      contents.push({ role: 'model', parts });
      seen.add(model, {
        input: usage.promptTokenCount ?? 0,
        output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
        cacheRead: usage.cachedContentTokenCount ?? 0,
      });
      const made = parts.flatMap(({ functionCall }) =>
        functionCall === undefined ? [] : [{ id: functionCall.id ?? '', name: functionCall.name ?? '', arguments: functionCall.args }],
      );
      return { calls: made, text: parts.flatMap((part) => (part.thought === true ? [] : [part.text ?? ''])).join('') };
    },
  };
}

const agents = {
  'Messages (@anthropic-ai/sdk)': messagesAgent,
  'Responses (openai)': responsesAgent,
  'chat completions (openai)': chatAgent,
  'generate-content (@google/genai)': generateContentAgent,
};

describe('an agent of every official SDK runs its loop on every upstream', () => {
  let running: SimulatedWeir;
  const seen = createSeenUsage();
  before(async () => {
    running = await startSimulatedWeir({
      upstreams: ({ openai }) => ({
        'chat-only': { vendor: 'openai-compatible', baseUrl: openai, apiKey: 'sk-any', forwardHeaders: ['x-simulator-*'] },
      }),
      models: Object.fromEntries(Object.entries(models).map(([name, target]) => [name, { targets: [target] }])),
    });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const [client, createAgent] of Object.entries(agents)) {
    for (const model of Object.keys(models)) {
      test(`${client} on ${model}: two parallel calls, one more, and a structured answer work`, async () => {
        const agent = createAgent(running, model, seen);
        const tag = `${client} ${model}`;
        const headersOf = (toolCalls: number) => steer({ 'tool-calls': toolCalls, tag: encodeURIComponent(tag) }).headers;

        const first = await agent.step([], { headers: headersOf(2), answerInJson: false });
        assert.deepEqual(first.calls.map((call) => call.name).toSorted(), ['get_time', 'get_weather']);
        for (const call of first.calls) {
          assert.equal(typeof (call.arguments as Record<string, unknown>)[call.name === 'get_weather' ? 'city' : 'place'], 'string');
        }
        const second = await agent.step(first.calls, { headers: headersOf(1), answerInJson: false });
        assert.equal(second.calls.length, 1);
        const last = await agent.step(second.calls, { headers: headersOf(0), answerInJson: true });
        assert.deepEqual(last.calls, []);
        const answer = JSON.parse(last.text) as Record<string, unknown>;
        assert.deepEqual([typeof answer.temperature, typeof answer.time], ['number', 'string']);

        const records = running.simulator.records().filter((record) => record.tag === encodeURIComponent(tag));
        assert.deepEqual(
          records.map((record) => record.status),
          [200, 200, 200],
        );
        const lastBody = JSON.stringify(records[2]?.requestBody);
        assert.ok(lastBody.includes('quarter past nine'), 'the results reached the upstream');
        assert.ok(lastBody.includes(pixelPng), 'the image reached the upstream');
      });
    }
  }

  test('the usage that the SDKs received is the usage in the books', () => assertBooksAgree(running.weir, seen));
});
