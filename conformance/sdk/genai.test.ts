import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type CallableTool, type Content, FunctionCallingConfigMode, GoogleGenAI, type GenerateContentResponse, Type } from '@google/genai';
import { z } from 'zod';

import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertLeft } from './assert-left.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { longReply, pixelPng, saying, steer } from './steer.ts';

const model = 'gemini-2.5-flash';
/** Signs its function calls and requires the signatures in the next turn. */
const signer = 'gemini-3-flash-preview';
const leftModel = 'left-in-the-middle';
const weatherTool = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
    },
  ],
};

/** Google's SDK on generate-content: whole, streamed, with tools, schemas, thinking, images and counts. */
describe('Google GenAI SDK', () => {
  let running: SimulatedWeir;
  let client: GoogleGenAI;
  const seen = createSeenUsage();
  const see = (response: GenerateContentResponse | undefined, of = model) => {
    const usage = response?.usageMetadata;
    assert.ok(usage, 'the SDK got usage');
    seen.add(of, {
      input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
      output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
      cacheRead: usage.cachedContentTokenCount ?? 0,
    });
    return usage;
  };
  const recordOf = (tag: string) => running.simulator.records().find((record) => record.tag === tag);
  const steered = (options: { headers: Record<string, string> }) => ({ httpOptions: options });
  const drain = async (stream: AsyncGenerator<GenerateContentResponse>): Promise<GenerateContentResponse[]> => {
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };
  before(async () => {
    running = await startSimulatedWeir({ models: { [leftModel]: { targets: [{ upstream: 'gemini', model }] } } });
    client = new GoogleGenAI({ apiKey: running.weir.apiKey, httpOptions: { baseUrl: running.weir.gatewayUrl } });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a whole call is answered', async () => {
    const response = await client.models.generateContent({ model, contents: 'Hello', config: steered(saying('Grüße, 世界 🌊')) });
    assert.equal(response.text, 'Grüße, 世界 🌊');
    assert.equal(response.candidates?.[0]?.finishReason, 'STOP');
    assert.equal(response.modelVersion, model);
    assert.ok(see(response).candidatesTokenCount);
  });

  test('the chunks of a stream are the text, and the last one ends it and has the usage', async () => {
    const text = 'One two three, 世界 and 🚰 and so on until the end.';
    const chunks = await drain(await client.models.generateContentStream({ model, contents: 'Hello', config: steered(saying(text)) }));
    assert.equal(chunks.map((chunk) => chunk.text ?? '').join(''), text);
    assert.ok(chunks.length > 2, 'it arrived in pieces');
    assert.equal(chunks.at(-1)?.candidates?.[0]?.finishReason, 'STOP');
    assert.ok(chunks.slice(0, -1).every((chunk) => chunk.candidates?.[0]?.finishReason === undefined));
    see(chunks.at(-1));
  });

  test('a chat keeps its own history, whole and streamed', async () => {
    const chat = client.chats.create({ model });
    const first = see(await chat.sendMessage({ message: 'My name is Ada.' }));
    const chunks = await drain(await chat.sendMessageStream({ message: 'Who am I?' }));
    assert.ok((see(chunks.at(-1)).promptTokenCount ?? 0) > (first.promptTokenCount ?? 0));
    assert.equal(chat.getHistory().filter(({ role }) => role === 'user').length, 2);
  });

  test('a tool round trip works whole', async () => {
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'How is the weather in Bern?' }] }];
    const config = { tools: [weatherTool] };
    const firstReply = await client.models.generateContent({
      model,
      contents,
      config: { ...config, ...steered(steer({ 'tool-calls': 1 })) },
    });
    see(firstReply);
    const [call] = firstReply.functionCalls ?? [];
    assert.equal(call?.name, 'get_weather');
    assert.equal(typeof call.args?.['city'], 'string');
    assert.ok(firstReply.candidates?.[0]?.content);
    contents.push(firstReply.candidates[0].content);
    contents.push({ role: 'user', parts: [{ functionResponse: { name: 'get_weather', response: { output: '21 degrees' } } }] });
    const answered = await client.models.generateContent({ model, contents, config });
    see(answered);
    assert.ok(answered.text);
  });

  test('a tool round trip works streamed, with two parallel calls, and needs the thought signatures', async () => {
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'Bern and Basel?' }] }];
    const config = { tools: [weatherTool] };
    const asking = await client.models.generateContentStream({
      model: signer,
      contents,
      config: { ...config, ...steered(steer({ 'tool-calls': 2 })) },
    });
    const chunks = await drain(asking);
    see(chunks.at(-1), signer);
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const calls = parts.filter((part) => part.functionCall !== undefined);
    assert.equal(calls.length, 2);
    assert.ok(calls[0]?.thoughtSignature);
    const responses = calls.map(() => ({ functionResponse: { name: 'get_weather', response: { output: 'rain' } } }));
    const history = [...contents, { role: 'model', parts }, { role: 'user', parts: responses }];
    const answered = await drain(await client.models.generateContentStream({ model: signer, contents: history, config }));
    see(answered.at(-1), signer);
    assert.ok(answered.map((chunk) => chunk.text ?? '').join(''));
    const unsigned = structuredClone(parts);
    for (const part of unsigned) delete part.thoughtSignature;
    const refused = client.models.generateContent({
      model: signer,
      contents: [...contents, { role: 'model', parts: unsigned }, { role: 'user', parts: responses }],
      config,
    });
    await assert.rejects(refused, /thought_signature/);
  });

  test('the SDK runs callable tools by itself', async () => {
    const cities: unknown[] = [];
    const usages: GenerateContentResponse[] = [];
    const tool: CallableTool = {
      tool: () => Promise.resolve(weatherTool),
      callTool: (calls) => {
        cities.push(...calls.map(({ args }) => args?.['city']));
        return Promise.resolve(calls.map(({ name }) => ({ functionResponse: { name: name ?? '', response: { output: 'snow' } } })));
      },
    };
    const stream = await client.models.generateContentStream({
      model: signer,
      contents: 'Chur?',
      config: { tools: [tool], ...steered(steer({ tag: 'afc' })) },
    });
    for await (const chunk of stream) if (chunk.candidates?.[0]?.finishReason !== undefined) usages.push(chunk);
    assert.ok(cities.length > 0);
    assert.equal(usages.length, 2);
    for (const last of usages) see(last, signer);
  });

  test('function calling can be restricted to certain functions, or to none', async () => {
    const calling = (mode: FunctionCallingConfigMode, allowedFunctionNames?: string[]) => ({
      tools: [weatherTool],
      toolConfig: { functionCallingConfig: { mode, ...(allowedFunctionNames === undefined ? {} : { allowedFunctionNames }) } },
    });
    const any = await client.models.generateContent({
      model,
      contents: 'Hello',
      config: calling(FunctionCallingConfigMode.ANY, ['get_weather']),
    });
    see(any);
    assert.ok((any.functionCalls ?? []).length > 0);
    const none = await client.models.generateContent({ model, contents: 'Hello', config: calling(FunctionCallingConfigMode.NONE) });
    see(none);
    assert.equal(none.functionCalls, undefined);
  });

  test('structured output follows the schema, by either field, whole and streamed', async () => {
    const Forecast = z.object({ city: z.string(), days: z.array(z.object({ high: z.number(), wet: z.boolean() })) });
    const jsonSchema = { responseMimeType: 'application/json', responseJsonSchema: z.toJSONSchema(Forecast) };
    const whole = await client.models.generateContent({ model, contents: 'Hello', config: jsonSchema });
    see(whole);
    Forecast.parse(JSON.parse(whole.text ?? ''));
    const chunks = await drain(await client.models.generateContentStream({ model, contents: 'Hello', config: jsonSchema }));
    see(chunks.at(-1));
    Forecast.parse(JSON.parse(chunks.map((chunk) => chunk.text ?? '').join('')));
    const responseSchema = { type: Type.STRING, enum: ['wet', 'dry'] };
    const word = await client.models.generateContent({
      model,
      contents: 'Hello',
      config: { responseMimeType: 'text/x.enum', responseSchema },
    });
    see(word);
    assert.match(word.text ?? '', /^(wet|dry)$/);
    const bare = { responseMimeType: 'text/x.enum', responseSchema };
    for (const other of ['gpt-5-mini', 'claude-sonnet-4-5']) {
      const translated = await client.models.generateContent({ model: other, contents: 'Hello', config: bare });
      see(translated, other);
      assert.match(translated.text ?? '', /^(wet|dry)$/, other);
      const streamed = await drain(await client.models.generateContentStream({ model: other, contents: 'Hello', config: bare }));
      see(streamed.at(-1), other);
      assert.match(streamed.map((chunk) => chunk.text ?? '').join(''), /^(wet|dry)$/, other);
    }
  });

  test('thoughts are beside the text, counted, and can be switched off', async () => {
    const thinking = { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } };
    const chunks = await drain(await client.models.generateContentStream({ model, contents: 'Hello', config: thinking }));
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    assert.ok(parts.some((part) => part.thought === true && part.text));
    assert.ok((see(chunks.at(-1)).thoughtsTokenCount ?? 0) > 0);
    const off = await client.models.generateContent({ model, contents: 'Hello', config: { thinkingConfig: { thinkingBudget: 0 } } });
    assert.equal(see(off).thoughtsTokenCount, undefined);
  });

  test('an image and a system instruction reach the vendor unchanged', async () => {
    const contents = [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: pixelPng } }, { text: 'What is this?' }] }];
    const config = { systemInstruction: 'Be brief.', temperature: 0.5, topK: 4, ...steered(steer({ tag: 'image' })) };
    const response = await client.models.generateContent({ model, contents, config });
    const details = see(response).promptTokensDetails ?? [];
    assert.ok(details.some(({ modality }) => modality === 'IMAGE'));
    const body = recordOf('image')?.requestBody;
    assert.deepEqual(body?.['contents'], contents);
    assert.deepEqual(body['generationConfig'], { temperature: 0.5, topK: 4 });
    assert.match(JSON.stringify(body['systemInstruction']), /Be brief\./);
  });

  test('search grounding, code execution, and the contract’s neutral name of the search tool work', async () => {
    const grounded = await client.models.generateContent({ model, contents: 'News?', config: { tools: [{ googleSearch: {} }] } });
    see(grounded);
    assert.ok(grounded.candidates?.[0]?.groundingMetadata?.groundingChunks?.length);
    const executed = await client.models.generateContent({
      model,
      contents: 'Run a program, please.',
      config: { tools: [{ codeExecution: {} }] },
    });
    assert.ok(see(executed).toolUsePromptTokenCount);
    assert.match(executed.executableCode ?? '', /print/);
    const neutral = await client.models.generateContent({
      model,
      contents: 'News?',
      config: { httpOptions: { ...steer({ tag: 'neutral' }), extraBody: { tools: [{ vendor_search: {} }] } } },
    });
    see(neutral);
    assert.ok(neutral.candidates?.[0]?.groundingMetadata?.groundingChunks?.length);
    assert.match(JSON.stringify(recordOf('neutral')?.requestBody?.['tools']), /google_?search/i);
  });

  test('a stop sequence, an output limit, a blocked prompt and a filtered answer end the reply', async () => {
    const stopped = await client.models.generateContent({
      model,
      contents: 'Hello',
      config: { stopSequences: ['STOP'], ...steered(saying('before STOP after')) },
    });
    see(stopped);
    assert.equal(stopped.text, 'before ');
    const limit = { maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 0 } };
    const limited = await client.models.generateContent({ model, contents: 'Hello', config: limit });
    assert.equal(see(limited).candidatesTokenCount, 5);
    assert.equal(limited.candidates?.[0]?.finishReason, 'MAX_TOKENS');
    const blocked = await client.models.generateContent({ model, contents: 'Hello', config: steered(steer({ stop: 'refusal' })) });
    see(blocked);
    assert.equal(blocked.promptFeedback?.blockReason, 'PROHIBITED_CONTENT');
    const filtered = await drain(
      await client.models.generateContentStream({ model, contents: 'Hello', config: steered(steer({ stop: 'content-filter' })) }),
    );
    see(filtered.at(-1));
    assert.equal(filtered.at(-1)?.candidates?.[0]?.finishReason, 'SAFETY');
  });

  test('a long prompt is read from the cache the second time', async () => {
    const contents = 'The river passes and is measured. '.repeat(300);
    see(await client.models.generateContent({ model, contents }));
    const second = await client.models.generateContent({ model, contents });
    assert.ok((see(second).cachedContentTokenCount ?? 0) >= 1024);
  });

  test('unknown parts and events pass', async () => {
    const whole = await client.models.generateContent({ model, contents: 'Hello', config: steered(steer({ fault: 'unknown-block' })) });
    see(whole);
    const chunks = await drain(
      await client.models.generateContentStream({
        model,
        contents: 'Hello',
        config: steered(saying('Known text.', { fault: 'unknown-event' })),
      }),
    );
    see(chunks.findLast((chunk) => chunk.usageMetadata !== undefined));
    assert.equal(chunks.map((chunk) => chunk.text ?? '').join(''), 'Known text.');
  });

  test('a token count is free and agrees with the call', async () => {
    const counted = await client.models.countTokens({ model, contents: 'How long is this?' });
    const response = await client.models.generateContent({ model, contents: 'How long is this?' });
    assert.equal(counted.totalTokens, see(response).promptTokenCount);
  });

  test('the model list, its pages, and one model are available', async () => {
    const names: (string | undefined)[] = [];
    for await (const entry of await client.models.list({ config: { pageSize: 3 } })) names.push(entry.name);
    assert.ok(names.includes(`models/${model}`));
    assert.equal(new Set(names).size, names.length, 'no model is listed twice');
    assert.ok(names.length > 6, 'several pages');
    const one = await client.models.get({ model });
    assert.equal(one.name, `models/${model}`);
    await assert.rejects(client.models.get({ model: 'no-such-model' }), { name: 'ApiError', status: 404 });
  });

  test('the older version of the path works, with the reply’s headers', async () => {
    const older = new GoogleGenAI({
      apiKey: running.weir.apiKey,
      apiVersion: 'v1',
      httpOptions: { baseUrl: running.weir.gatewayUrl },
    });
    const response = await older.models.generateContent({ model, contents: 'Hello' });
    see(response);
    assert.match(response.sdkHttpResponse?.headers?.['x-weir-request-id'] ?? '', /^req_[0-9a-z]{26}$/);
  });

  test('the vendor notices a client that disconnects, and the client pays for the received part', async () => {
    const controller = new AbortController();
    const config = { abortSignal: controller.signal, ...steered(steer({ ...longReply, tag: 'left' })) };
    const stream = await client.models.generateContentStream({ model: leftModel, contents: 'Hello', config });
    let characters = 0;
    let leftAtMs = 0;
    await assert.rejects(async () => {
      for await (const chunk of stream) {
        characters += chunk.text?.length ?? 0;
        if (characters < 20 || leftAtMs > 0) continue;
        leftAtMs = Date.now();
        controller.abort();
      }
    });
    const { record, booked } = await assertLeft(running, { tag: 'left', model: leftModel, characters, leftAtMs });
    assert.equal(booked.input, record.plannedUsage?.inputTokens);
  });

  test('no upstream key reached the client, and no client key reached the vendor', () => {
    const own = running.simulator.records().filter(({ path }) => path.startsWith('/v1beta/'));
    assert.equal(new Set(own.map(({ requestHeaders }) => requestHeaders['x-goog-api-key'])).size, 1);
    const others = running.simulator.records().filter((record) => !own.includes(record));
    assert.ok(others.every(({ requestHeaders }) => requestHeaders['x-goog-api-key'] === undefined));
    assert.ok(running.simulator.records().every(({ path }) => !path.includes('key=')));
  });

  test("the books match the SDK's usage", () => assertBooksAgree(running.weir, seen, [leftModel]));
});
