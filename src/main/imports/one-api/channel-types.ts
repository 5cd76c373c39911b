/** The two programs that share these tables. Their numbers of channel types part after 26. */
export type OneApiKind = 'one-api' | 'new-api';

const shared: Readonly<Record<number, string>> = {
  1: 'openai',
  8: 'openai-compatible',
  14: 'anthropic',
  16: 'zhipu',
  17: 'dashscope',
  20: 'openrouter',
  24: 'gemini',
  25: 'moonshot',
};

/** The service of each channel type, by number (relay/channeltype of one-api, constant/channel of new-api). */
const types: Readonly<Record<OneApiKind, Readonly<Record<number, string>>>> = {
  'one-api': {
    ...shared,
    26: 'baichuan',
    27: 'minimax',
    28: 'mistral',
    29: 'groq',
    30: 'ollama',
    31: 'lingyiwanwu',
    32: 'stepfun',
    35: 'cohere',
    36: 'deepseek',
    39: 'together',
    40: 'volcengine',
    41: 'novita',
    44: 'siliconflow',
    45: 'xai',
    47: 'qianfan',
    49: 'dashscope',
    50: 'openai-compatible',
    51: 'gemini',
  },
  'new-api': {
    ...shared,
    4: 'ollama',
    26: 'zhipu',
    27: 'perplexity',
    31: 'lingyiwanwu',
    34: 'cohere',
    35: 'minimax',
    38: 'jina',
    40: 'siliconflow',
    42: 'mistral',
    43: 'deepseek',
    45: 'volcengine',
    46: 'qianfan',
    47: 'openai-compatible',
    48: 'xai',
    55: 'openai',
  },
};

/** The service of a channel, or undefined if Weir has no upstream for it. */
export const serviceOfChannel = (kind: OneApiKind, type: number): string | undefined => types[kind][type];

/**
 * The address of a channel as a client of OpenAI's kind takes it. Both programs append `/v1/…` to what is written, if
 * the service is of OpenAI's kind.
 */
export function addressOfChannel(service: string, written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const address = written.replace(/\/+$/, '');
  const ends = /\/(?:v\d+(?:beta)?|openai|compatible-mode\/v1)$/.test(address);
  return ends || service === 'anthropic' || service === 'gemini' || service === 'ollama' ? address : `${address}/v1`;
}
