import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';

import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import {
  assertPassage,
  codeQuestion,
  nextQuestion,
  searchQuestion,
  pythonTest,
  quickTest,
  quickTestOf,
  startToolBench,
  type ToolBench,
  toolModels,
} from './start-tool-bench.ts';
import { steer } from './steer.ts';

type Message = Anthropic.Message;
type Request = Anthropic.MessageCreateParamsNonStreaming;

const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 } as const;
const python = { type: 'code_execution_20260120', name: 'code_execution' } as const;
const fetchPage = { type: 'web_fetch_20250910', name: 'web_fetch', citations: { enabled: true } } as const;

/** The server tools of Messages, as the Anthropic SDK receives them on upstreams that have none. */
describe('Anthropic SDK: server tools', () => {
  let bench: ToolBench;
  let client: Anthropic;
  const seen = createSeenUsage();
  before(async () => {
    bench = await startToolBench();
    client = new Anthropic({ baseURL: bench.weir.gatewayUrl, apiKey: bench.weir.apiKey, maxRetries: 0 });
  });
  after(() => bench[Symbol.asyncDispose]());

  const see = (model: string, { usage }: Message): void => {
    const [cacheRead, cacheWrite] = [usage.cache_read_input_tokens ?? 0, usage.cache_creation_input_tokens ?? 0];
    seen.add(model, { input: usage.input_tokens + cacheRead + cacheWrite, output: usage.output_tokens, cacheRead, cacheWrite });
  };

  const ask = async (request: Request, streamed: boolean): Promise<Message> => {
    const message = streamed ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
    see(String(request.model), message);
    assert.equal(message.stop_reason, 'end_turn');
    return message;
  };

  const goOn = async (request: Request, first: Message, streamed: boolean): Promise<void> => {
    const messages = [...request.messages, { role: 'assistant' as const, content: first.content }];
    const second = await ask({ ...request, messages: [...messages, { role: 'user', content: nextQuestion }] }, streamed);
    assert.ok(second.content.some((block) => block.type === 'text' && block.text !== ''));
  };

  for (const model of toolModels) {
    for (const streamed of [false, true]) {
      const how = `${model}, ${streamed ? 'streamed' : 'whole'}`;
      const withPython = pythonTest(1, model, streamed);
      const withoutPython = quickTestOf(1, model, streamed);
      const asking = (content: string, tools: Request['tools']): Request => ({
        model,
        max_tokens: 2000,
        messages: [{ role: 'user', content }],
        ...(tools === undefined ? {} : { tools }),
      });

      withoutPython?.(`a searched answer cites its sources, and is accepted unchanged as history (${how})`, async () => {
        const request = asking(searchQuestion, [search]);
        const first = await ask(request, streamed);
        const { use, result } = readRun(first, 'web_search_tool_result');
        assert.deepEqual(use.input, { query: 'the swing bridge of Eastquay' });
        assert.ok(Array.isArray(result.content));
        const found = result.content.map(({ url }) => url);
        assert.ok(found.includes(bench.page('press', '/eastquay-bridge')));
        const citations = first.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []));
        assert.ok(citations.length > 0);
        for (const citation of citations) {
          assert.ok(citation.type === 'web_search_result_location');
          assert.ok(found.includes(citation.url));
          assert.ok(citation.title);
          assertPassage(citation.cited_text);
        }
        assert.equal(first.usage.server_tool_use?.web_search_requests, 1);
        await goOn(request, first, streamed);
      });

      withPython?.(`code is run, shown with its output, and accepted as history (${how})`, async () => {
        const request = asking(codeQuestion, [python]);
        const first = await ask(request, streamed);
        const { use, result } = readRun(first, 'code_execution_tool_result');
        assert.deepEqual(use.input, { code: 'print(6 * 7)' });
        assert.ok(result.content.type === 'code_execution_result');
        assert.deepEqual([result.content.stdout, result.content.return_code], ['42\n', 0]);
        await goOn(request, first, streamed);
      });

      withoutPython?.(`a page is fetched, cited and accepted as history (${how})`, async () => {
        const url = bench.page('press', '/eastquay-bridge');
        const request = asking(`What does ${url} say?`, [fetchPage]);
        const first = await ask(request, streamed);
        const { use, result } = readRun(first, 'web_fetch_tool_result');
        assert.deepEqual(use.input, { url });
        assert.ok(result.content.type === 'web_fetch_result');
        assert.equal(result.content.url, url);
        const { source } = result.content.content;
        assert.match(source.type === 'text' ? source.data : '', /turns in ninety seconds/);
        assert.equal(first.usage.server_tool_use?.web_fetch_requests, 1);
        await goOn(request, first, streamed);
      });
    }
  }

  for (const model of toolModels) {
    quickTest?.(
      `a turn with a search and a function call is continued by the client, with the results of the search (${model})`,
      async () => {
        const weather = { name: 'get_weather', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } } };
        const request: Request = { model, max_tokens: 2000, messages: [{ role: 'user', content: 'Tides?' }], tools: [search, weather] };
        const first = await client.messages.create(request, steer({ 'tool-calls': 2 }));
        see(model, first);
        assert.equal(first.stop_reason, 'tool_use');
        readRun(first, 'web_search_tool_result');
        const results = first.content.flatMap((block) =>
          block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'rain' }] : [],
        );
        assert.equal(results.length, 1);
        const messages = [
          ...request.messages,
          { role: 'assistant' as const, content: first.content },
          { role: 'user' as const, content: results },
        ];
        const second = await ask({ ...request, messages }, false);
        assert.ok(second.content.some((block) => block.type === 'text' && block.text.includes('rain')));
      },
    );

    quickTest?.(`a failed search is reported to the model and to the client (${model})`, async () => {
      const query = 'tides [[simulator fault=status%3Bstatus%3D500]]';
      const steering = steer({ 'tool-name': 'web_search', 'tool-arguments': encodeURIComponent(JSON.stringify({ query })) });
      const request: Request = { model, max_tokens: 2000, messages: [{ role: 'user', content: 'Tides?' }], tools: [search] };
      const message = await client.messages.create(request, steering);
      see(model, message);
      const { result } = readRun(message, 'web_search_tool_result');
      assert.ok(!Array.isArray(result.content));
      assert.equal(result.content.error_code, 'unavailable');
      assert.equal(message.stop_reason, 'end_turn');
      assert.equal(message.usage.server_tool_use?.web_search_requests ?? 0, 0, 'a search without results is not charged');
    });
  }

  test("the books match the SDK's usage", () => assertBooksAgree(bench.weir, seen));
});

/** The one run of a tool in a reply: its call and, after it, its result. */
function readRun<Type extends Anthropic.ContentBlock['type']>(message: Message, type: Type) {
  const at = message.content.findIndex((block) => block.type === 'server_tool_use');
  const use = message.content[at];
  const result = message.content[at + 1];
  assert.ok(use?.type === 'server_tool_use');
  assert.ok(isOfType(result, type), 'the result follows the call');
  assert.equal('tool_use_id' in result ? result.tool_use_id : undefined, use.id);
  return { use, result };
}

function isOfType<Type extends Anthropic.ContentBlock['type']>(
  block: Anthropic.ContentBlock | undefined,
  type: Type,
): block is Extract<Anthropic.ContentBlock, { type: Type }> {
  return block?.type === type;
}
