import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type Candidate, type GenerateContentResponse, GoogleGenAI, Language, Outcome, type Part, type Tool, Type } from '@google/genai';

import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { insertMarks } from './insert-marks.ts';
import { saying, steer } from './steer.ts';

type Upstream = {
  readonly title: string;
  readonly model: string;
  readonly target: { readonly upstream: string; readonly model: string };
  /** Whether a vendor behind it runs the tool. Tools of the gateway have a separate suite. */
  readonly searches: boolean;
  readonly runsCode: boolean;
};

/** One upstream of each dialect. */
const upstreams: readonly Upstream[] = [
  {
    title: 'generate-content',
    model: 'of-gemini',
    target: { upstream: 'gemini', model: 'gemini-3-flash-preview' },
    searches: true,
    runsCode: true,
  },
  {
    title: 'Messages',
    model: 'of-anthropic',
    target: { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
    searches: true,
    runsCode: false,
  },
  { title: 'Responses', model: 'of-openai', target: { upstream: 'responses', model: 'gpt-4.1' }, searches: true, runsCode: false },
  { title: 'chat completions', model: 'of-chat', target: { upstream: 'compatible', model: 'gpt-4.1' }, searches: false, runsCode: false },
];

const sentence = 'Zürich — 東京 👩‍👩‍👧 is cited.';

/** A client's view of a reply, whole or streamed. */
type Seen = { readonly text: string; readonly candidate: Candidate; readonly parts: readonly Part[] };

const weather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
};

describe('Google GenAI SDK: search grounding and code execution', () => {
  let running: SimulatedWeir;
  let client: GoogleGenAI;

  before(async () => {
    const compatible = { apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
    running = await startSimulatedGateway({
      upstreams: ({ openai }) => ({
        responses: { ...compatible, vendor: 'openai', baseUrl: openai, dialects: ['openai-responses'] },
        compatible: { ...compatible, vendor: 'openai-compatible', baseUrl: openai },
      }),
      models: Object.fromEntries(upstreams.map(({ model, target }) => [model, { targets: [target] }])),
    });
    client = new GoogleGenAI({ apiKey: running.weir.apiKey, httpOptions: { baseUrl: running.weir.gatewayUrl } });
  });
  after(() => running[Symbol.asyncDispose]());

  const readWhole = (response: GenerateContentResponse): Seen => {
    const [candidate] = response.candidates ?? [];
    assert.ok(candidate);
    const parts = candidate.content?.parts ?? [];
    return { text: parts.flatMap((part) => (part.thought === true ? [] : (part.text ?? ''))).join(''), candidate, parts };
  };

  const readStream = async (stream: AsyncGenerator<GenerateContentResponse>): Promise<Seen> => {
    const parts: Part[] = [];
    let candidate: Candidate | undefined;
    for await (const chunk of stream) {
      assert.ok(candidate?.finishReason === undefined, 'nothing follows the last chunk');
      candidate = chunk.candidates?.[0] ?? candidate;
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    assert.ok(candidate);
    return { text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''), candidate, parts };
  };

  const ask = async (model: string, tools: readonly Tool[], streamed: boolean, options = saying(sentence)): Promise<Seen> => {
    const request = { model, contents: 'Which city?', config: { tools: [...tools], httpOptions: options } };
    return streamed
      ? readStream(await client.models.generateContentStream(request))
      : readWhole(await client.models.generateContent(request));
  };

  for (const { title, model, searches, runsCode } of upstreams) {
    for (const streamed of [false, true]) {
      const how = `${title}, ${streamed ? 'streamed' : 'whole'}`;

      const searchTest = searches ? test : undefined;
      const codeTest = runsCode ? test : undefined;

      searchTest?.(`a grounded answer can be shown with its sources (${how})`, async () => {
        const { text, candidate } = await ask(model, [{ googleSearch: {} }], streamed);
        assert.equal(text, sentence);
        const { groundingMetadata: metadata } = candidate;
        assert.deepEqual(metadata?.webSearchQueries, ['Which city?']);
        assert.match(metadata.groundingChunks?.[0]?.web?.uri ?? '', /^https:/);
        assert.ok(metadata.groundingChunks?.[0]?.web?.title);
        for (const { segment } of metadata.groundingSupports ?? []) {
          const said = Buffer.from(text).subarray(segment?.startIndex ?? 0, segment?.endIndex);
          assert.equal(said.toString(), segment?.text, 'offsets are bytes of the text');
        }
        assert.equal(insertMarks(text, metadata), `${sentence}[1]`);
        assert.match(metadata.searchEntryPoint?.renderedContent ?? '', /^<div/);
      });

      codeTest?.(`code has its outcome, before the answer (${how})`, async () => {
        const { parts, candidate } = await ask(model, [{ codeExecution: {} }, { googleSearch: {} }], streamed);
        const kinds = parts.flatMap((part) =>
          part.executableCode === undefined ? (part.codeExecutionResult === undefined ? (part.text ? 'text' : []) : 'result') : 'code',
        );
        assert.deepEqual([...new Set(kinds)], ['code', 'result', 'text']);
        const [run, result] = parts;
        assert.equal(run?.executableCode?.language, Language.PYTHON);
        assert.ok(run.executableCode.code);
        assert.equal(result?.codeExecutionResult?.outcome, Outcome.OUTCOME_OK);
        assert.ok(candidate.groundingMetadata?.groundingChunks, 'both tools in one request');
      });

      searchTest?.(`tools of the service are combined with functions (${how})`, async () => {
        const { parts } = await ask(
          model,
          [{ googleSearch: {} }, { functionDeclarations: [weather] }],
          streamed,
          steer({ 'tool-calls': 1 }),
        );
        const calls = parts.flatMap((part) => part.functionCall ?? []);
        assert.deepEqual(
          calls.map(({ name }) => name),
          ['get_weather'],
        );
      });
    }
  }

  test('a conversation continues after code, and its record is accepted unchanged', async () => {
    const config = { tools: [{ codeExecution: {} }] };
    const chat = client.chats.create({ model: 'of-gemini', config });
    await chat.sendMessage({ message: 'What is 1 + 1?' });
    const answer = await chat.sendMessage({ message: 'And 2 + 2?' });
    assert.ok(answer.text);
    const sent = chat.getHistory()[1]?.parts ?? [];
    assert.deepEqual(
      sent.slice(0, 2).map((part) => Object.keys(part)[0]),
      ['executableCode', 'codeExecutionResult'],
    );
  });

  test('pages in the conversation are read and listed', async () => {
    const { candidates } = await client.models.generateContent({
      model: 'of-gemini',
      contents: 'What does https://example.org/page say?',
      config: { tools: [{ urlContext: {} }] },
    });
    assert.deepEqual(candidates?.[0]?.urlContextMetadata?.urlMetadata, [
      { retrievedUrl: 'https://example.org/page', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
    ]);
  });
});
