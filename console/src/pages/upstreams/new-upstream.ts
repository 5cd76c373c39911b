/** What a person says about a new upstream. */
export type NewUpstream = {
  readonly name: string;
  /** A vendor, or a preset of an OpenAI-compatible server. */
  readonly kind: string;
  readonly baseUrl: string;
  readonly apiKey: string;
};

/** The vendors of a layer. Upstreams of clouds have facts and an identity that belong into the file of a machine. */
export const vendors = [
  { value: 'anthropic', text: 'Anthropic' },
  { value: 'openai', text: 'OpenAI' },
  { value: 'gemini', text: 'Gemini' },
  { value: 'xai', text: 'xAI' },
] as const;

/** Presets of services that have one address (src/upstreams/openai-compatible/). */
const services = [
  'openrouter',
  'deepseek',
  'groq',
  'mistral',
  'perplexity',
  'together',
  'fireworks',
  'cohere',
  'jina',
  'voyage',
  'moonshot',
  'zai',
  'zai-coding',
  'zhipu',
  'minimax',
  'dashscope',
  'tencent',
  'cerebras',
  'nvidia',
  'sambanova',
  'huggingface',
  'deepinfra',
  'nebius',
  'siliconflow',
  'github-models',
] as const;

/** Presets of programs, and of services with an address for each account: they need an address. */
const servers = [
  'vllm',
  'sglang',
  'ollama',
  'llama-cpp',
  'lm-studio',
  'whisper-cpp',
  'speaches',
  'kokoro',
  'snowflake',
  'databricks',
  'litellm',
  'weir',
] as const;

/** The presets of `upstreams.<name>.preset`. */
export const presets = [...servers, ...services] as const;

const isVendor = (kind: string): boolean => vendors.some(({ value }) => value === kind);

/** Whether the kind has no address of its own. */
export const needsAddress = (kind: string): boolean => !isVendor(kind) && !services.some((name) => name === kind);

/** The settings of an upstream as `weir.yaml` and a layer have them. */
export function settingsOf({ kind, baseUrl, apiKey }: NewUpstream): Readonly<Record<string, unknown>> {
  return {
    ...(isVendor(kind) ? { vendor: kind } : { vendor: 'openai-compatible', ...(kind !== 'other' && { preset: kind }) }),
    ...(baseUrl !== '' && { baseUrl }),
    ...(apiKey !== '' && { apiKey }),
  };
}

type Document = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Document => typeof value === 'object' && value !== null;

/** The newest layer with one upstream more. A layer is published whole, so that what it has stays. */
export function addToLayer(layer: Document | undefined, upstream: NewUpstream): Document {
  const upstreams = isObject(layer?.['upstreams']) ? layer['upstreams'] : {};
  return { ...layer, upstreams: { ...upstreams, [upstream.name]: settingsOf(upstream) } };
}

/** The newest layer with another key of an upstream; undefined if the layer does not have the upstream. */
export function withKey(layer: Document | undefined, name: string, apiKey: string): Document | undefined {
  const upstreams = layer?.['upstreams'];
  if (!isObject(upstreams) || !isObject(upstreams[name])) return undefined;
  return { ...layer, upstreams: { ...upstreams, [name]: { ...upstreams[name], apiKey } } };
}

/** The variable for a key, named after its upstream: `MY_VLLM_API_KEY`. */
const variableOf = (name: string): string => `${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`.replace(/^(?=\d)/, '_');

/** The same for `weir.yaml`. The key is a variable there, never a text. */
export function yamlOf(upstream: NewUpstream): string {
  const settings = { ...settingsOf(upstream), ...(upstream.apiKey !== '' && { apiKey: `\${${variableOf(upstream.name)}}` }) };
  const lines = Object.entries(settings).map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`);
  return ['upstreams:', `  ${upstream.name || 'NAME'}:`, ...lines].join('\n');
}
