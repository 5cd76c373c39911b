import { groqAudio, vllmAudio, whisperCppAudio } from '../audio-service.ts';
import type { ServerPreset } from '../upstream-vendor.ts';

/**
 * Known servers and services, and where they depart from the usual (server-traits.ts). What depends on the model and not on the server is
 * left as usual, for the operator to say. Sources: what each documents of its chat completions in 2026, and public issue threads that quote
 * what it refuses.
 */
export const serverPresets: Readonly<Record<string, ServerPreset>> = {
  /**
   * docs.vllm.ai: sampling extras, `chat_template_kwargs`, fetching of images. Whether thinking can be switched is up to the chat template.
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
  /** docs.sglang.io: the same extras as vLLM, but its `/v1/rerank` answers with a bare list, which is none of the interfaces for rankings. */
  sglang: {
    quirks: { reasoning: 'effort', reasoningField: 'enable_thinking', acceptsTopK: true, fetchesUrls: true },
  },
  /**
   * It does not act on `tool_choice`, and a model that cannot think answers 400 to being asked to (ollama/ollama#12561,
   * taketwo/llm-ollama#54).
   */
  ollama: { quirks: { forcedToolChoice: false } },
  /** tools/server/README of llama.cpp: template arguments, thoughts in the history, sampling extras, rankings in Jina's form. */
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
   * `tool_choice` may only be a word: naming a function is refused (lmstudio-ai/lmstudio-bug-tracker#670). lmstudio.ai/docs lists `top_k`.
   */
  'lm-studio': { quirks: { forcedToolChoice: false, acceptsTopK: true } },
  /** openrouter.ai/docs: one `reasoning` object for all models, thoughts of earlier turns in `reasoning`, addresses of images and PDFs. */
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
   * api-docs.deepseek.com: thinking is on unless a field of its own switches it off, its efforts are these three, and answers may be JSON
   * but not of a schema. A tool loop must bring the thoughts back (earendil-works/pi#3636), and no call can be forced while it thinks
   * (XiaomiMiMo/MiMo-Code#2068).
   */
  deepseek: {
    baseUrl: 'https://api.deepseek.com',
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
   * console.groq.com/docs: `max_tokens` is deprecated; schemas for answers, and efforts, only with some models and a 400 with the others;
   * `logprobs` answers 400.
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
   * It refuses fields that it does not know, `stream_options` among them, and sends the usage without being asked (dnakov/anon-kode#53).
   * docs.mistral.ai: a call's type is optional, and an image may be its address alone.
   */
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    quirks: { streamOptions: false, acceptsLogprobs: false, fetchesUrls: true, ownSpellings: true },
  },
  /** docs.perplexity.ai: structured outputs are a schema without a name, and every answer searches the web. */
  perplexity: {
    baseUrl: 'https://api.perplexity.ai',
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
   * docs.cohere.com: chats and embeddings for clients of OpenAI lie below `/compatibility/v1`; rankings have Cohere's own interface, whose `/v2` lies beside that.
   * Chats with `stream_options` are refused (strandsagents.com, its page on Cohere).
   */
  cohere: { baseUrl: 'https://api.cohere.ai/compatibility/v1', quirks: { streamOptions: false, rerank: 'cohere' } },
  /** jina.ai/reranker: rankings and embeddings. */
  jina: { baseUrl: 'https://api.jina.ai/v1', quirks: { rerank: 'jina' } },
  /** docs.voyageai.com: rankings and embeddings. */
  voyage: { baseUrl: 'https://api.voyageai.com/v1', quirks: { rerank: 'voyage' } },
  /** examples/server of ggml-org/whisper.cpp: its base address is that of the server, without `/v1`. */
  'whisper-cpp': { quirks: { audio: whisperCppAudio } },
  /** speaches.ai, which was faster-whisper-server: all five forms of transcripts, languages by code, and speech by Kokoro or Piper. */
  speaches: { quirks: {} },
  /** remsky/Kokoro-FastAPI: speech alone, with voices of its own, which may be mixed: `af_bella+af_sky`. */
  kokoro: { quirks: { audio: { transcriptions: '', translations: '' } } },
};
