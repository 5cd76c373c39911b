import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import {
  type Candidate,
  type Chat,
  type GenerateContentResponse,
  type GenerateContentResponseUsageMetadata,
  GoogleGenAI,
  Outcome,
  type Part,
  type Tool,
  Type,
} from '@google/genai';

import { insertMarks } from './insert-marks.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import {
  assertPassage,
  codeQuestion,
  nextQuestion,
  searchQuestion,
  pythonTest,
  quickTestOf,
  startToolBench,
  type ToolBench,
  toolModels,
} from './start-tool-bench.ts';

const weather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
};

/** A client's view of a reply, whole or streamed. */
type Seen = { readonly text: string; readonly candidate: Candidate; readonly parts: readonly Part[] };

/** Grounding, code and pages by the Google GenAI SDK, in chats with upstreams that have none of it. */
describe('Google GenAI SDK: tools that the gateway runs', () => {
  let bench: ToolBench;
  let client: GoogleGenAI;
  const seen = createSeenUsage();
  before(async () => {
    bench = await startToolBench();
    client = new GoogleGenAI({ apiKey: bench.weir.apiKey, httpOptions: { baseUrl: bench.weir.gatewayUrl } });
  });
  after(() => bench[Symbol.asyncDispose]());

  const see = (model: string, usage: GenerateContentResponseUsageMetadata | undefined): void => {
    const {
      promptTokenCount: input = 0,
      candidatesTokenCount = 0,
      thoughtsTokenCount = 0,
      cachedContentTokenCount: cacheRead = 0,
    } = usage ?? {};
    assert.ok(input > 0);
    seen.add(model, { input, output: candidatesTokenCount + thoughtsTokenCount, cacheRead });
  };

  const readChunks = (model: string, chunks: readonly GenerateContentResponse[]): Seen => {
    const candidates = chunks.flatMap(({ candidates: [first] = [] }) => first ?? []);
    const candidate = candidates.at(-1);
    assert.equal(candidate?.finishReason, 'STOP');
    assert.ok(candidates.slice(0, -1).every(({ finishReason }) => finishReason === undefined));
    see(model, chunks.at(-1)?.usageMetadata);
    const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
    return { text: parts.map(({ thought, text = '' }) => (thought === true ? '' : text)).join(''), candidate, parts };
  };

  const say = async (chat: Chat, model: string, message: string, streamed: boolean): Promise<Seen> => {
    if (!streamed) return readChunks(model, [await chat.sendMessage({ message })]);
    return readChunks(model, await Array.fromAsync(await chat.sendMessageStream({ message })));
  };

  for (const model of toolModels) {
    for (const streamed of [false, true]) {
      const how = `${model}, ${streamed ? 'streamed' : 'whole'}`;
      const withPython = pythonTest(2, model, streamed);
      const withoutPython = quickTestOf(2, model, streamed);
      const open = (...tools: Tool[]): Chat => client.chats.create({ model, config: { tools } });

      withoutPython?.(`a grounded answer can be shown with its sources, and the chat continues (${how})`, async () => {
        const chat = open({ googleSearch: {} });
        const { text, candidate } = await say(chat, model, searchQuestion, streamed);
        const { groundingMetadata: metadata } = candidate;
        assert.deepEqual(metadata?.webSearchQueries, ['the swing bridge of Eastquay']);
        assert.ok(metadata.groundingChunks?.some(({ web }) => web?.uri === bench.page('press', '/eastquay-bridge') && web.title));
        assert.ok(metadata.groundingSupports?.length);
        for (const { segment, groundingChunkIndices = [] } of metadata.groundingSupports) {
          const said = Buffer.from(text)
            .subarray(segment?.startIndex ?? 0, segment?.endIndex)
            .toString();
          assert.equal(said, segment?.text, 'offsets are bytes of the text');
          assertPassage(said);
          assert.ok(groundingChunkIndices.every((index) => metadata.groundingChunks?.[index] !== undefined));
        }
        assert.match(insertMarks(text, metadata), /\[1\]/);
        assert.match(metadata.searchEntryPoint?.renderedContent ?? '', /^<div/);
        assert.ok((await say(chat, model, nextQuestion, streamed)).text);
      });

      withPython?.(`code has its outcome, before the answer, and its record is accepted as history (${how})`, async () => {
        const chat = open({ codeExecution: {} }, { googleSearch: {} });
        const { parts } = await say(chat, model, codeQuestion, streamed);
        const at = parts.findIndex(({ executableCode }) => executableCode !== undefined);
        assert.equal(parts[at]?.executableCode?.code, 'print(6 * 7)');
        assert.deepEqual(parts[at + 1]?.codeExecutionResult, { outcome: Outcome.OUTCOME_OK, output: '42\n' });
        assert.match(
          parts
            .slice(at + 2)
            .flatMap(({ text }) => text ?? [])
            .join(''),
          /42/,
        );
        assert.ok((await say(chat, model, nextQuestion, streamed)).text);
      });

      withoutPython?.(`pages in the question are read and listed (${how})`, async () => {
        const chat = open({ urlContext: {} });
        const [read, gone] = [bench.page('press', '/eastquay-bridge'), bench.page('trap', '/gone')];
        const { candidate } = await say(chat, model, `What do ${read} and ${gone} say?`, streamed);
        assert.deepEqual(candidate.urlContextMetadata?.urlMetadata, [
          { retrievedUrl: read, urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
          { retrievedUrl: gone, urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_ERROR' },
        ]);
        assert.ok((await say(chat, model, nextQuestion, streamed)).text);
      });

      withoutPython?.(`tools of the service are combined with functions (${how})`, async () => {
        const { candidate, parts } = await say(
          open({ googleSearch: {} }, { functionDeclarations: [weather] }),
          model,
          searchQuestion,
          streamed,
        );
        assert.ok(candidate.groundingMetadata?.groundingChunks?.length);
        assert.ok(parts.every(({ functionCall }) => functionCall === undefined));
      });
    }
  }

  test("the books match the SDK's usage", () => assertBooksAgree(bench.weir, seen));
});
