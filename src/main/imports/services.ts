import type { PlannedUpstream } from './import-plan.ts';

type Service = Pick<PlannedUpstream, 'vendor' | 'preset' | 'baseUrl'> & {
  /** A self-hosted server: its address must be given. */
  readonly ownServer?: true;
  /** The path of its interface of OpenAI's kind, if addresses are usually written without it. */
  readonly path?: string;
};

const compatible = { vendor: 'openai-compatible' } as const;
const preset = (name: NonNullable<PlannedUpstream['preset']>): Service => ({ ...compatible, preset: name });
const server = (name: NonNullable<PlannedUpstream['preset']>, path?: string): Service => ({
  ...preset(name),
  ownServer: true,
  ...(path !== undefined && { path }),
});
const at = (baseUrl: string): Service => ({ ...compatible, baseUrl });

/**
 * Services by the names that other gateways give them. Addresses are those of the services' own documentation of their
 * interface of OpenAI's kind, in 2026.
 */
const services: Readonly<Record<string, Service>> = {
  openai: { vendor: 'openai' },
  anthropic: { vendor: 'anthropic' },
  gemini: { vendor: 'gemini' },
  xai: { vendor: 'xai' },
  openrouter: preset('openrouter'),
  deepseek: preset('deepseek'),
  groq: preset('groq'),
  mistral: preset('mistral'),
  perplexity: preset('perplexity'),
  together: preset('together'),
  fireworks: preset('fireworks'),
  cohere: preset('cohere'),
  jina: preset('jina'),
  voyage: preset('voyage'),
  vllm: server('vllm'),
  ollama: server('ollama', '/v1'),
  'lm-studio': server('lm-studio'),
  'openai-compatible': { ...compatible, ownServer: true },
  cerebras: at('https://api.cerebras.ai/v1'),
  nvidia: at('https://integrate.api.nvidia.com/v1'),
  sambanova: at('https://api.sambanova.ai/v1'),
  moonshot: at('https://api.moonshot.cn/v1'),
  'moonshot-international': at('https://api.moonshot.ai/v1'),
  dashscope: at('https://dashscope.aliyuncs.com/compatible-mode/v1'),
  'dashscope-international': at('https://dashscope-intl.aliyuncs.com/compatible-mode/v1'),
  zhipu: at('https://open.bigmodel.cn/api/paas/v4'),
  minimax: at('https://api.minimax.chat/v1'),
  siliconflow: at('https://api.siliconflow.cn/v1'),
  volcengine: at('https://ark.cn-beijing.volces.com/api/v3'),
  qianfan: at('https://qianfan.baidubce.com/v2'),
  lingyiwanwu: at('https://api.lingyiwanwu.com/v1'),
  stepfun: at('https://api.stepfun.com/v1'),
  baichuan: at('https://api.baichuan-ai.com/v1'),
  novita: at('https://api.novita.ai/v3/openai'),
};

/** The address that each vendor's SDK takes: without a version for Anthropic and Gemini. */
const ownAddresses: Readonly<Record<string, RegExp>> = {
  openai: /^https:\/\/api\.openai\.com(?:\/v1)?$/,
  anthropic: /^https:\/\/api\.anthropic\.com$/,
  gemini: /^https:\/\/generativelanguage\.googleapis\.com$/,
  xai: /^https:\/\/api\.x\.ai(?:\/v1)?$/,
};

/**
 * An upstream for an account at a service.
 * @param name a name of the table; Weir has no upstream for others
 * @param address as the other gateway has it; undefined for the service's own
 * @returns why there is none, as a text; otherwise the upstream without its credential
 */
export function planService(name: string, address: string | undefined): PlannedUpstream | string {
  const service = Object.hasOwn(services, name) ? services[name] : undefined;
  if (service === undefined) return `Weir has no upstream of the kind ${name}`;
  const { ownServer, path = '', ...upstream } = service;
  if (address === undefined) return ownServer === true ? 'the address of the server is not in the file' : upstream;
  if (!URL.canParse(address) || !/^https?:/.test(address)) return `${address} is not an address`;
  const written = address.replace(/\/+$/, '').replace(/\/(?:chat\/completions|v1\/messages)$/, '');
  if (upstream.vendor === 'openai-compatible') return { ...upstream, baseUrl: withPath(written, path) };
  const bare = upstream.vendor === 'openai' || upstream.vendor === 'xai' ? written : written.replace(/\/v1(?:beta)?$/, '');
  if (ownAddresses[upstream.vendor]?.test(bare) === true) return upstream;
  // What speaks OpenAI's interface at another address is a server of its kind.
  return upstream.vendor === 'openai' ? { ...compatible, baseUrl: bare } : { ...upstream, baseUrl: bare };
}

const withPath = (address: string, path: string): string => (address.endsWith(path) ? address : `${address}${path}`);
