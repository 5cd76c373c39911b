import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI, type GoogleGenerativeAIProviderMetadata } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type LanguageModel, type ModelMessage, streamText, tool, type ToolSet } from 'ai';
import { z } from 'zod';

import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import {
  codeQuestion,
  geminiNameOf,
  nextQuestion,
  searchQuestion,
  pythonTest,
  quickTestOf,
  startToolBench,
  type ToolBench,
  toolModels,
} from './start-tool-bench.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;

/** Tools of a provider, whose types do not fit into `ToolSet` under `exactOptionalPropertyTypes`. */
const toolSet = (tools: Readonly<Record<string, object>>): ToolSet => tools as ToolSet;

type Provider = {
  readonly name: string;
  readonly open: (model: string) => LanguageModel;
  readonly search: ToolSet;
  readonly python: ToolSet;
  /** Reads the pages in the question. */
  readonly pages?: ToolSet;
};

function connect({ weir }: ToolBench): readonly Provider[] {
  const { gatewayUrl, apiKey } = weir;
  const openai = createOpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey });
  const anthropic = createAnthropic({ baseURL: `${gatewayUrl}/v1`, apiKey });
  const google = createGoogleGenerativeAI({ baseURL: `${gatewayUrl}/v1beta`, apiKey });
  return [
    {
      name: 'openai',
      open: (model) => openai.responses(model),
      search: toolSet({ web_search: openai.tools.webSearch({}) }),
      python: toolSet({ code_interpreter: openai.tools.codeInterpreter({}) }),
    },
    {
      name: 'anthropic',
      open: anthropic,
      search: toolSet({ web_search: anthropic.tools.webSearch_20250305({ maxUses: 3 }) }),
      python: toolSet({ code_execution: anthropic.tools.codeExecution_20250825({}) }),
      pages: toolSet({ web_fetch: anthropic.tools.webFetch_20250910({ citations: { enabled: true } }) }),
    },
    {
      name: 'google',
      open: google,
      search: toolSet({ google_search: google.tools.googleSearch({}) }),
      python: toolSet({ code_execution: google.tools.codeExecution({}) }),
      pages: toolSet({ url_context: google.tools.urlContext({}) }),
    },
  ];
}

/** The AI SDK's view of a reply, whole or streamed. */
type Seen = Awaited<ReturnType<typeof generateText>>;

/** Built-in tools by the AI SDK with each of its providers, on upstreams that have none of them. */
describe('AI SDK: built-in tools', () => {
  let bench: ToolBench;
  let providers: readonly Provider[];
  const seen = createSeenUsage();
  before(async () => {
    bench = await startToolBench();
    providers = connect(bench);
  });
  after(() => bench[Symbol.asyncDispose]());

  type Asked = { readonly model: string; readonly open: Provider['open']; readonly messages: ModelMessage[]; readonly tools: ToolSet };

  const ask = async ({ model, open, messages, tools }: Asked, streamed: boolean) => {
    const options = { model: open(model), messages, tools, maxRetries: 0, maxOutputTokens: 4000 };
    const result = streamed ? await readStream(streamText(options)) : readWhole(await generateText(options));
    const { inputTokens: input, outputTokens: output, inputTokenDetails } = result.usage;
    assert.ok(input !== undefined && output !== undefined);
    seen.add(model, {
      input,
      output,
      cacheRead: inputTokenDetails.cacheReadTokens ?? 0,
      cacheWrite: inputTokenDetails.cacheWriteTokens ?? 0,
    });
    assert.deepEqual(result.warnings ?? [], []);
    assert.equal(result.finishReason, 'stop');
    return result;
  };

  const goOn = async (asked: Asked, first: Awaited<ReturnType<typeof ask>>, streamed: boolean): Promise<void> => {
    const messages: ModelMessage[] = [...asked.messages, ...first.messages, { role: 'user', content: nextQuestion }];
    assert.ok((await ask({ ...asked, messages }, streamed)).text);
  };

  for (const [at, name] of ['openai', 'anthropic', 'google'].entries()) {
    for (const upstream of toolModels) {
      const model = name === 'google' ? geminiNameOf(upstream, '3') : upstream;
      // This SDK returns executed code as a function call without the signature that it requires for Gemini 3, and
      // warns of it.
      const coder = name === 'google' ? geminiNameOf(upstream, '2.5') : upstream;
      for (const streamed of [false, true]) {
        const how = `${name} to ${upstream}, ${streamed ? 'streamed' : 'whole'}`;
        const withPython = pythonTest(at, upstream, streamed);
        const withoutPython = quickTestOf(at, upstream, streamed);
        const asking = (question: string, pick: (provider: Provider) => ToolSet | undefined): Asked => {
          const provider = providers[at];
          assert.equal(provider?.name, name);
          return { model, open: provider.open, messages: [{ role: 'user', content: question }], tools: pick(provider) ?? {} };
        };

        withoutPython?.(`a searched answer has its sources, and is accepted as history (${how})`, async () => {
          const asked = asking(searchQuestion, ({ search }) => search);
          const first = await ask(asked, streamed);
          assert.ok(first.sources.some((source) => source.sourceType === 'url' && source.url === bench.page('press', '/eastquay-bridge')));
          if (name === 'google') assertGrounding(first.text, first.providerMetadata);
          else assert.deepEqual(first.ranTools, ['web_search']);
          await goOn(asked, first, streamed);
        });

        withPython?.(`code is run by the service, and its record is accepted as history (${how})`, async () => {
          const asked = { ...asking(codeQuestion, ({ python }) => python), model: coder };
          const first = await ask(asked, streamed);
          assert.equal(first.ranTools.length, 1);
          assert.match(first.results, /42\\n/);
          await goOn(asked, first, streamed);
        });

        withoutPython?.(`a search is combined with a function, which the client answers (${how})`, async () => {
          const answers = { look_up: tool({ description: 'Looks a word up.', inputSchema: z.object({ word: z.string() }) }) };
          const asked = asking(searchQuestion, ({ search }) => ({ ...search, ...toolSet(answers) }));
          const first = await ask(asked, streamed);
          assert.ok(first.text);
        });

        if (name === 'openai') continue;
        withoutPython?.(`a page in the question is read (${how})`, async () => {
          const asked = asking(`What does ${bench.page('press', '/eastquay-bridge')} say?`, ({ pages }) => pages);
          const first = await ask(asked, streamed);
          if (name === 'anthropic') assert.deepEqual(first.ranTools, ['web_fetch']);
          await goOn(asked, first, streamed);
        });
      }
    }
  }

  test("the books match the SDK's usage", () => assertBooksAgree(bench.weir, seen));
});

const readParts = (content: Seen['content']) => ({
  ranTools: content.flatMap((part) => (part.type === 'tool-call' && part.providerExecuted === true ? [part.toolName] : [])),
  results: JSON.stringify(content.filter(({ type }) => type === 'tool-result')),
});

function readWhole(result: Seen) {
  const { text, sources, usage, warnings, finishReason, response, providerMetadata, content } = result;
  return { text, sources, usage, warnings, finishReason, messages: response.messages, providerMetadata, ...readParts(content) };
}

async function readStream(result: ReturnType<typeof streamText>) {
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
  return {
    text: await result.text,
    sources: await result.sources,
    usage: await result.usage,
    warnings: await result.warnings,
    finishReason: await result.finishReason,
    messages: (await result.response).messages,
    providerMetadata: await result.providerMetadata,
    ...readParts(await result.content),
  };
}

/** The segments of a grounded answer are at their positions, counted in bytes. */
function assertGrounding(text: string, metadata: Seen['providerMetadata']): void {
  const google: unknown = metadata?.['google'];
  const { groundingMetadata } = google as GoogleGenerativeAIProviderMetadata;
  assert.ok(groundingMetadata?.webSearchQueries?.length);
  assert.ok(groundingMetadata.groundingSupports?.length);
  for (const { segment } of groundingMetadata.groundingSupports) {
    const said = Buffer.from(text).subarray(segment?.startIndex ?? 0, segment?.endIndex ?? undefined);
    assert.equal(said.toString(), segment?.text);
  }
}
