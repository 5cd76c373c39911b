/** Names of LiteLLM's providers, and the service that each is (docs.litellm.ai/docs/providers). */
const providers: Readonly<Record<string, string>> = {
  openai: 'openai',
  text_completion_openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  xai: 'xai',
  openrouter: 'openrouter',
  deepseek: 'deepseek',
  groq: 'groq',
  mistral: 'mistral',
  perplexity: 'perplexity',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  cohere: 'cohere',
  cohere_chat: 'cohere',
  jina_ai: 'jina',
  voyage: 'voyage',
  hosted_vllm: 'vllm',
  vllm: 'vllm',
  ollama: 'ollama',
  ollama_chat: 'ollama',
  lm_studio: 'lm-studio',
  custom_openai: 'openai-compatible',
  openai_like: 'openai-compatible',
  litellm_proxy: 'openai-compatible',
  llamafile: 'openai-compatible',
  cerebras: 'cerebras',
  nvidia_nim: 'nvidia',
  sambanova: 'sambanova',
  moonshot: 'moonshot-international',
  dashscope: 'dashscope-international',
  zai: 'zhipu',
  volcengine: 'volcengine',
  novita: 'novita',
};

/** How a model without a provider is recognised by its name. */
const families: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-|o\d|chatgpt-|text-embedding-|dall-e|tts-|whisper-|sora)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^command-/, 'cohere'],
];

/** The parts of a deployment's `litellm_params.model`. `provider` is as LiteLLM writes it. */
export type ModelParts = { readonly provider: string; readonly service: string | undefined; readonly model: string };

/** @param named `custom_llm_provider`, which comes before the prefix of the model */
export function splitModel(written: string, named: string | undefined): ModelParts {
  const slash = written.indexOf('/');
  const prefix = slash < 0 ? '' : written.slice(0, slash);
  const isProvider = Object.hasOwn(providers, prefix) || others.has(prefix);
  const provider = named ?? (isProvider ? prefix : families.find(([pattern]) => pattern.test(written))?.[1]);
  if (provider === undefined) return { provider: prefix === '' ? written : prefix, service: undefined, model: written };
  const model = prefix === provider ? written.slice(slash + 1) : written;
  return { provider, service: Object.hasOwn(providers, provider) ? providers[provider] : undefined, model };
}

/** Clouds, and providers that LiteLLM has and Weir does not: such a prefix is not part of a model's name. */
const others: ReadonlySet<string> = new Set([
  'azure',
  'azure_ai',
  'azure_text',
  'bedrock',
  'sagemaker',
  'sagemaker_chat',
  'vertex_ai',
  'vertex_ai_beta',
  'databricks',
  'snowflake',
  'watsonx',
  'huggingface',
  'replicate',
  'github',
  'github_copilot',
]);
