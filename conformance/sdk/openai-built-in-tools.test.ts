import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

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

type Response = OpenAI.Responses.Response;
type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming;

const search = { type: 'web_search' } as const;
const python = { type: 'code_interpreter', container: { type: 'auto' } } as const;
const lookUp = {
  type: 'function',
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'], additionalProperties: false },
  strict: true,
} as const;
const include: Request['include'] = ['web_search_call.action.sources', 'code_interpreter_call.outputs'];

/** The tools that the service runs, as the OpenAI SDK receives them on upstreams that have none. */
describe('OpenAI SDK: built-in tools', () => {
  let bench: ToolBench;
  let client: OpenAI;
  const seen = createSeenUsage();
  before(async () => {
    bench = await startToolBench();
    client = new OpenAI({ baseURL: `${bench.weir.gatewayUrl}/v1`, apiKey: bench.weir.apiKey, maxRetries: 0 });
  });
  after(() => bench[Symbol.asyncDispose]());

  const see = (model: string, { usage }: Response): void => {
    assert.ok(usage);
    const { cached_tokens: cacheRead } = usage.input_tokens_details;
    seen.add(model, { input: usage.input_tokens, output: usage.output_tokens, cacheRead });
  };

  const ask = async (request: Request, streamed: boolean): Promise<Response> => {
    const response = streamed ? await readStream(client, request) : await client.responses.create(request);
    see(String(request.model), response);
    return response;
  };

  for (const model of toolModels) {
    for (const streamed of [false, true]) {
      const how = `${model}, ${streamed ? 'streamed' : 'whole'}`;
      const withPython = pythonTest(0, model, streamed);
      const withoutPython = quickTestOf(0, model, streamed);

      withoutPython?.(`a searched answer cites its sources, and the whole reply is accepted as history (${how})`, async () => {
        const first = await ask({ model, input: searchQuestion, tools: [search], include }, streamed);
        const call = first.output.find((item) => item.type === 'web_search_call');
        assert.equal(call?.status, 'completed');
        assert.ok(call.action?.type === 'search');
        const sources = call.action.sources?.map(({ url }) => url) ?? [];
        assert.ok(sources.includes(bench.page('press', '/eastquay-bridge')));
        const cited = readCitations(first);
        assert.ok(cited.length > 0);
        for (const { url, title, passage } of cited) {
          assert.ok(sources.includes(url));
          assert.ok(title);
          assertPassage(passage);
        }
        const history = [
          { role: 'user' as const, content: searchQuestion },
          ...first.output.map((item) => item as OpenAI.Responses.ResponseInputItem),
        ];
        const second = await ask(
          { model, input: [...history, { role: 'user', content: nextQuestion }], tools: [search], store: false },
          streamed,
        );
        assert.ok(second.output_text);
        const chained = await ask({ model, input: nextQuestion, previous_response_id: first.id, tools: [search] }, streamed);
        assert.ok(chained.output_text);
      });

      withPython?.(`code is run, shown with its output, and accepted as history (${how})`, async () => {
        const first = await ask({ model, input: codeQuestion, tools: [python], include }, streamed);
        const call = first.output.find((item) => item.type === 'code_interpreter_call');
        assert.equal(call?.code, 'print(6 * 7)');
        assert.deepEqual(call.outputs, [{ type: 'logs', logs: '42\n' }]);
        assert.match(first.output_text, /42/);
        const history = [
          { role: 'user' as const, content: codeQuestion },
          ...first.output.map((item) => item as OpenAI.Responses.ResponseInputItem),
        ];
        const second = await ask({ model, input: [...history, { role: 'user', content: nextQuestion }], tools: [python] }, streamed);
        assert.ok(second.output_text);
      });

      withPython?.(`two parallel tools work beside a function that is not called (${how})`, async () => {
        const question = 'Search the web for tides. Compute: 6 * 7';
        const reply = await ask({ model, input: question, tools: [search, python, lookUp], include }, streamed);
        const kinds = reply.output.map(({ type }) => type).filter((type) => type !== 'message' && type !== 'reasoning');
        assert.deepEqual(kinds, ['web_search_call', 'code_interpreter_call']);
        assert.equal(reply.status, 'completed');
        assert.ok(readCitations(reply).length > 0);
      });
    }
  }

  test("the books match the SDK's usage", () => assertBooksAgree(bench.weir, seen));
});

/** Reads a stream by the SDK, which throws at an unexpected event, and checks the order of its events. */
async function readStream(client: OpenAI, request: Request): Promise<Response> {
  const stream = client.responses.stream({ ...request, stream: true });
  const open = new Set<string>();
  let sequence = 0;
  for await (const event of stream) {
    assert.equal(event.sequence_number, sequence++);
    if (event.type === 'response.output_item.added') open.add(event.item.id ?? '');
    if (event.type === 'response.output_item.done') assert.ok(open.delete(event.item.id ?? ''), 'an item ends once, after it began');
    if ('item_id' in event) assert.ok(open.has(event.item_id), `${event.type} belongs to an open item`);
  }
  assert.equal(open.size, 0);
  return await stream.finalResponse();
}

/** The citations of a reply, each with its cited text: its offsets are characters. */
function readCitations(response: Response): readonly { readonly url: string; readonly title: string; readonly passage: string }[] {
  return response.output.flatMap((item) =>
    item.type !== 'message'
      ? []
      : item.content.flatMap((part) =>
          part.type !== 'output_text'
            ? []
            : part.annotations.flatMap((annotation) => {
                if (annotation.type !== 'url_citation') return [];
                const passage = Array.from(part.text).slice(annotation.start_index, annotation.end_index).join('');
                return [{ url: annotation.url, title: annotation.title, passage }];
              }),
        ),
  );
}
