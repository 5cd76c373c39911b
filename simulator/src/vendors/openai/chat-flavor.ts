/** Differences between the vendors that speak chat completions. */
export type ChatFlavor = {
  readonly name: 'openai' | 'xai';
  /** Refuses unknown members. */
  readonly isStrict: boolean;
  /**
   * Shows reasoning as `reasoning_content`, and counts its tokens beside the completion tokens instead of among them.
   */
  readonly showsReasoning: boolean;
  /** Sends the usage chunk even if it was not requested. */
  readonly alwaysReportsUsage: boolean;
  /** Pads the chunks of a stream to hide their length. */
  readonly obfuscates: boolean;
  /** Models that reason and therefore refuse `max_tokens`. */
  readonly refusesMaxTokens: (model: string) => boolean;
  /** Models with temperature 1 only. */
  readonly refusesTemperature: (model: string) => boolean;
  /** Models that reason by default. */
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
