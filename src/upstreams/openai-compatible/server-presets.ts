import { groqAudio, vllmAudio, whisperCppAudio } from '../audio-service.ts';
import type { ServerPreset } from '../upstream-vendor.ts';
import { chatAt, messagesAt } from './dialect-addresses.ts';
import { servicePresets } from './service-presets.ts';

/**
 * Known servers and services (service-presets.ts has more), and their differences from the usual server
 * (usual-server-traits.ts). The operator sets differences that depend on the model. Sources: each server's
 * documentation of its chat completions in 2026, and public issues that quote its refusals.
 */
export const serverPresets: Readonly<Record<string, ServerPreset>> = {
  /**
   * docs.vllm.ai: extra sampling fields, `chat_template_kwargs`, fetching of images. The chat template decides whether
   * thinking can be switched.
   */
  vllm: {
    quirks: {
      reasoning: 'effort',
      reasoningField: 'enable_thinking',
      acceptsTopK: true,
      fetchesUrls: true,
      audio: vllmAudio,
      rerank: 'vllm',
    },
  },
  /**
   * docs.sglang.io: the same extras as vLLM. Its `/v1/rerank` returns a bare list, which is none of the ranking
   * interfaces.
   */
  sglang: {
    quirks: { reasoning: 'effort', reasoningField: 'enable_thinking', acceptsTopK: true, fetchesUrls: true },
  },
  /**
   * It ignores `tool_choice`, and a model that cannot think returns 400 if a request asks for thinking
   * (ollama/ollama#12561, taketwo/llm-ollama#54).
   */
  ollama: { quirks: { forcedToolChoice: false } },
  /**
   * tools/server/README of llama.cpp: template arguments, thoughts in the history, extra sampling fields, rankings in
   * Jina's form.
   */
  'llama-cpp': {
    quirks: {
      reasoning: 'effort',
      reasoningField: 'enable_thinking',
      reasoningHistoryField: 'reasoning_content',
      acceptsTopK: true,
      rerank: 'vllm',
    },
  },
  /**
   * `tool_choice` must be a string; an object that names a function is refused (lmstudio-ai/lmstudio-bug-tracker#670).
   * lmstudio.ai/docs lists `top_k`.
   */
  'lm-studio': { quirks: { forcedToolChoice: false, acceptsTopK: true } },
  /**
   * openrouter.ai/docs: one `reasoning` object for all models, thoughts of earlier turns in `reasoning`, addresses of
   * images and PDFs.
   */
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    quirks: {
      reasoning: 'effort',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
      reasoningField: 'reasoning',
      reasoningHistoryField: 'reasoning',
      acceptsTopK: true,
      fetchesUrls: true,
    },
  },
  /**
   * api-docs.deepseek.com: it takes Messages too, ignores betas and `mcp_servers` there, and bills unknown names of
   * Claude as models of its own. In chats, thinking is on unless a field switches it off, it has these three efforts,
   * and answers may be JSON but without a schema. A tool loop must return the thoughts (earendil-works/pi#3636), and no
   * call can be forced while it thinks (XiaomiMiMo/MiMo-Code#2068).
   */
  deepseek: {
    baseUrl: 'https://api.deepseek.com',
    addresses: [chatAt(''), messagesAt('/anthropic/v1')],
    quirks: {
      reasoning: 'effort',
      efforts: ['low', 'high', 'max'],
      alwaysReasons: true,
      reasoningHistoryField: 'reasoning_content',
      structuredOutput: false,
      forcedToolChoice: false,
    },
  },
  /**
   * console.groq.com/docs: `max_tokens` is deprecated. Only some models support answer schemas and efforts; the others
   * return 400. `logprobs` returns 400.
   */
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    quirks: {
      outputLimitField: 'max_completion_tokens',
      structuredOutput: false,
      acceptsLogprobs: false,
      fetchesUrls: true,
      audio: groqAudio,
    },
  },
  /**
   * It refuses unknown fields, including `stream_options`, and always sends the usage (dnakov/anon-kode#53).
   * docs.mistral.ai: the type of a call is optional, and an image may be a plain address. Ids of calls have nine
   * letters and digits (opencode#1680).
   */
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    quirks: { streamOptions: false, acceptsLogprobs: false, fetchesUrls: true, ownSpellings: true, callIds: 'nine-alphanumerics' },
  },
  /** docs.perplexity.ai: structured outputs are a schema without a name, and every answer searches the web. */
  perplexity: {
    baseUrl: 'https://api.perplexity.ai',
    listsModels: false,
    quirks: { streamOptions: false, acceptsLogprobs: false, fetchesUrls: true, forcedToolChoice: false, ownSpellings: true },
  },
  /** docs.together.ai: `top_k`, addresses of images. */
  together: { baseUrl: 'https://api.together.xyz/v1', quirks: { acceptsTopK: true, fetchesUrls: true } },
  /** docs.fireworks.ai: `top_k`, addresses of images. */
  fireworks: {
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    quirks: { acceptsTopK: true, fetchesUrls: true },
  },
  /**
   * docs.cohere.com: chats and embeddings for clients of OpenAI are below `/compatibility/v1`. Rankings have Cohere's
   * own interface, whose `/v2` is beside it. Chats with `stream_options` are refused (strandsagents.com, its page on
   * Cohere).
   */
  cohere: { baseUrl: 'https://api.cohere.ai/compatibility/v1', quirks: { streamOptions: false, rerank: 'cohere' } },
  /** jina.ai/reranker: rankings and embeddings. */
  jina: { baseUrl: 'https://api.jina.ai/v1', quirks: { rerank: 'jina' } },
  /** docs.voyageai.com: rankings and embeddings. */
  voyage: { baseUrl: 'https://api.voyageai.com/v1', quirks: { rerank: 'voyage' } },
  /** examples/server of ggml-org/whisper.cpp: the base address is that of the server, without `/v1`. */
  'whisper-cpp': { quirks: { audio: whisperCppAudio } },
  /**
   * speaches.ai (formerly faster-whisper-server): all five forms of transcripts, languages by code, and speech by
   * Kokoro or Piper.
   */
  speaches: { quirks: {} },
  /** remsky/Kokoro-FastAPI: only speech, with voices of its own, which can be mixed: `af_bella+af_sky`. */
  kokoro: { quirks: { audio: { transcriptions: '', translations: '' } } },
  ...servicePresets,
};
