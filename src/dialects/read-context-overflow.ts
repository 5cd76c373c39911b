/** A request is longer than the model's context. Has the counts if the message states them. */
export type ContextOverflow = { readonly tokens?: number; readonly tokensMax?: number };

const codes = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'model_context_window_exceeded',
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'string_above_max_length',
]);

/** A pattern in which names in angle brackets match numbers. */
const wording = (source: string): RegExp =>
  new RegExp(
    source.replaceAll(/<(\w+)>/g, (_, name: string) => `(?<${name}>\\d[\\d,._]*)`),
    'i',
  );

/**
 * The messages of vendors, services and servers, for all dialects, because services pass on the messages of the servers
 * behind them. Patterns with more numbers come first. If two numbers add up, the second is `outputTokens`.
 */
const wordings: readonly RegExp[] = [
  // OpenAI, DeepSeek, OpenRouter, vLLM.
  wording(
    'maximum context length (?:is|of) <tokensMax>[^]{0,200}?(?:requested|resulted in|has|contains)(?: about| at least| a total of)* <tokens>',
  ),
  // SGLang.
  wording(String.raw`(?:input|prompt) \(?<tokens> tokens?\)? (?:is longer than|exceeds|>)[^\d]{0,80}<tokensMax>`),
  // Mistral.
  wording('prompt contains <tokens> tokens.{0,80}?too large for model with <tokensMax> maximum context length'),
  // xAI.
  wording('maximum prompt length is <tokensMax> but the request contains <tokens> tokens'),
  // Fireworks and Together.
  wording('prompt is too long: <tokens>, model maximum context length: <tokensMax>'),
  // Anthropic.
  wording('prompt is too long: *<tokens> tokens? > <tokensMax>'),
  wording(String.raw`input length and .?max_tokens.? exceed context limit: *<tokens> \+ <outputTokens> > <tokensMax>`),
  // Google.
  wording(String.raw`token count[^\d]{0,20}?(?:<tokens>\)? )?exceeds the maximum number of tokens allowed(?:[^\d]{0,20}<tokensMax>)?`),
  wording(String.raw`exceeds the (?:maximum )?input token limit(?:[^\d]{0,20}<tokensMax>)?`),
  // GitHub's and Cerebras' services.
  wording('prompt token count of <tokens> exceeds the limit of <tokensMax>'),
  wording('current length is <tokens> while limit is <tokensMax>'),
  // Moonshot.
  wording(String.raw`exceeded model token limit: <tokensMax> \(requested: <tokens>\)`),
  // LM Studio.
  wording('trying to keep the first <tokens> tokens when context the overflows.{0,120}?context length of only <tokensMax> tokens'),
  // llama.cpp.
  wording(String.raw`request \(<tokens> tokens\) exceeds the available context size \(<tokensMax>`),
  // Text Generation Inference; Ollama; DashScope; MiniMax; Z.ai; Groq; Bedrock.
  wording('inputs.? (?:tokens )?must have less than <tokensMax> tokens. given: <tokens>'),
  wording(String.raw`range of input length should be \[1, <tokensMax>\]`),
  /input length exceeds the (?:maximum )?context length/i,
  /context window exceeds limit|prompt exceeds max length|input token length too long|token count.{0,40}exceeds the maximum/i,
  /please reduce the length of the messages/i,
  /(?:prompt|input) is too long|context_length_exceeded|model_context_window_exceeded|exceeds the maximum number of tokens allowed/i,
  /(?:exceeds?|exceeded|larger than|over) (?:the |its |this |model'?s )*(?:available |maximum )?context (?:length|window|size|limit)/i,
  wording('maximum context length(?: (?:is|of) <tokensMax> tokens)?'),
];

/**
 * vLLM uses the same message for an output limit that does not fit. There, a shorter conversation is not the solution.
 */
const ofOutputLimit = /'?max_(?:completion_)?tokens'? .{0,60}is too large/i;

function countIn(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  const count = Number(digits.replaceAll(/[,._]/g, ''));
  return Number.isSafeInteger(count) ? count : undefined;
}

function readCounts(message: string): ContextOverflow | undefined {
  for (const words of wordings) {
    const match = words.exec(message);
    if (match === null) continue;
    const { tokens, outputTokens, tokensMax } = match.groups ?? {};
    const [input, most] = [countIn(tokens), countIn(tokensMax)];
    const total = input === undefined ? undefined : input + (countIn(outputTokens) ?? 0);
    return { ...(total === undefined ? {} : { tokens: total }), ...(most === undefined ? {} : { tokensMax: most }) };
  }
  return undefined;
}

/**
 * Whether an error reports that the request is longer than the model's context, by its code or its message. Undefined
 * if not.
 */
export function readContextOverflow(message: string, words: readonly string[]): ContextOverflow | undefined {
  const isCoded = words.some((word) => codes.has(word));
  if (!isCoded && ofOutputLimit.test(message)) return undefined;
  return readCounts(message) ?? (isCoded ? {} : undefined);
}
