/** That a request is longer than the model's context, with the counts where the words hold them. */
export type ContextOverflow = { readonly tokens?: number; readonly tokensMax?: number };

const codes = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'string_above_max_length',
]);

const number = String.raw`(\d[\d,._]*)`;
const pattern = (source: string): RegExp => new RegExp(source.replaceAll('#', number), 'i');

/** Words of vendors, services and servers, with the groups that hold the request's tokens and the most that there may be. */
const wordings: readonly { readonly words: RegExp; readonly tokens?: number; readonly tokensMax?: number }[] = [
  // OpenAI, DeepSeek, OpenRouter, vLLM.
  {
    words: pattern('maximum context length (?:is|of) # tokens?.{0,80}?(?:requested|resulted in)(?: about)? # tokens'),
    tokensMax: 1,
    tokens: 2,
  },
  {
    words: pattern(
      'maximum context length (?:is|of) #.{0,120}?(?:request|prompt|input) (?:has|contains) (?:at least )?# (?:input )?tokens',
    ),
    tokensMax: 1,
    tokens: 2,
  },
  // SGLang.
  { words: pattern(String.raw`input \(# tokens\) is longer than the model'?s context length \(# tokens\)`), tokens: 1, tokensMax: 2 },
  // Mistral.
  { words: pattern('prompt contains # tokens.{0,80}?too large for model with # maximum context length'), tokens: 1, tokensMax: 2 },
  // xAI.
  { words: pattern('maximum prompt length is # but the request contains # tokens'), tokensMax: 1, tokens: 2 },
  // Fireworks and Together.
  { words: pattern('prompt is too long: #, model maximum context length: #'), tokens: 1, tokensMax: 2 },
  // Anthropic and Google behind a service of this dialect.
  { words: pattern('prompt is too long: # tokens > # maximum'), tokens: 1, tokensMax: 2 },
  { words: pattern(String.raw`input token count \(?#\)? exceeds the maximum number of tokens allowed \(?#\)?`), tokens: 1, tokensMax: 2 },
  // GitHub's and Cerebras' services.
  { words: pattern('prompt token count of # exceeds the limit of #'), tokens: 1, tokensMax: 2 },
  { words: pattern('current length is # while limit is #'), tokens: 1, tokensMax: 2 },
  // Moonshot.
  { words: pattern(String.raw`exceeded model token limit: # \(requested: #\)`), tokensMax: 1, tokens: 2 },
  // LM Studio.
  {
    words: pattern('trying to keep the first # tokens when context the overflows.{0,120}?context length of only # tokens'),
    tokens: 1,
    tokensMax: 2,
  },
  // llama.cpp.
  { words: pattern(String.raw`request \(# tokens\) exceeds the available context size \(# tokens\)`), tokens: 1, tokensMax: 2 },
  { words: pattern('the request exceeds the available context size') },
  // Text Generation Inference; Ollama; DashScope; MiniMax; Z.ai; Groq.
  { words: pattern('inputs.? (?:tokens )?must have less than # tokens. given: #'), tokensMax: 1, tokens: 2 },
  { words: /input length exceeds the (?:maximum )?context length/i },
  { words: pattern(String.raw`range of input length should be \[1, #\]`), tokensMax: 1 },
  { words: /context window exceeds limit|prompt exceeds max length|input token length too long/i },
  { words: /exceeds? (?:the )?(?:model'?s )?(?:maximum )?context (?:length|window|size)/i },
  { words: /please reduce the length of the messages/i },
  { words: pattern('maximum context length (?:is|of) # tokens'), tokensMax: 1 },
];

/** vLLM says the same words of an output limit that does not fit, where shortening the conversation is not what helps. */
const ofOutputLimit = /'?max_(?:completion_)?tokens'? .{0,60}is too large/i;

function countOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text.replaceAll(/[,_.]/g, ''));
  return Number.isSafeInteger(count) ? count : undefined;
}

function readCounts(message: string): ContextOverflow | undefined {
  for (const { words, tokens, tokensMax } of wordings) {
    const match = words.exec(message);
    if (match === null) continue;
    const given = tokens === undefined ? undefined : countOf(match[tokens]);
    const most = tokensMax === undefined ? undefined : countOf(match[tokensMax]);
    return { ...(given === undefined ? {} : { tokens: given }), ...(most === undefined ? {} : { tokensMax: most }) };
  }
  return undefined;
}

/** Whether an error says that the request is longer than the model's context: by its code, or by its words. Undefined when it says something else. */
export function readContextOverflow(message: string, words: readonly string[]): ContextOverflow | undefined {
  const isCoded = words.some((word) => codes.has(word));
  if (!isCoded && ofOutputLimit.test(message)) return undefined;
  return readCounts(message) ?? (isCoded ? {} : undefined);
}
