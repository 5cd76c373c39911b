/** In what the vendors that speak chat completions differ. */
export type ChatFlavor = {
  readonly name: 'openai' | 'xai';
  /** Refuses members that the format does not know. */
  readonly isStrict: boolean;
  /** Shows reasoning as `reasoning_content`, and counts its tokens beside the completion tokens instead of among them. */
  readonly showsReasoning: boolean;
  /** Sends the usage chunk even if nobody asked for it. */
  readonly alwaysReportsUsage: boolean;
  /** Pads the chunks of a stream to hide their length. */
  readonly obfuscates: boolean;
  /** Models that reason and hence refuse `max_tokens`. */
  readonly refusesMaxTokens: (model: string) => boolean;
  /** Models that take no temperature but 1. */
  readonly refusesTemperature: (model: string) => boolean;
  /** Models that reason unless told otherwise. */
  readonly reasonsByDefault: (model: string) => boolean;
  /** Models that charge for writing to the cache, and report it. */
  readonly reportsCacheWrites: (model: string) => boolean;
};

export const openaiFlavor: ChatFlavor = {
  name: 'openai',
  isStrict: true,
  showsReasoning: false,
  alwaysReportsUsage: false,
  obfuscates: true,
  refusesMaxTokens: (model) => /^(?:o\d|gpt-5)/.test(model),
  refusesTemperature: (model) => /^(?:o\d|gpt-5(?!\.))/.test(model),
  reasonsByDefault: (model) => /^(?:o\d|gpt-5(?!\.))/.test(model),
  reportsCacheWrites: (model) => model.startsWith('gpt-5.6'),
};

export const xaiFlavor: ChatFlavor = {
  name: 'xai',
  isStrict: false,
  showsReasoning: true,
  alwaysReportsUsage: true,
  obfuscates: false,
  refusesMaxTokens: () => false,
  refusesTemperature: () => false,
  reasonsByDefault: (model) => /^grok-(?:3-mini|4|5)/.test(model) && !model.includes('non-reasoning'),
  reportsCacheWrites: () => false,
};
