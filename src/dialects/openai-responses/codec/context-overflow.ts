type Overflow = { readonly tokens?: number; readonly tokensMax?: number };

/** Wordings with numbers: the vendor's older one, vLLM's, SGLang's and llama.cpp's. Named groups say which number is which. */
const countedWordings: readonly RegExp[] = [
  /maximum context length is (?<tokensMax>[\d,]+) tokens[^]{0,200}?(?:requested|resulted in|has|contains) (?:a total of )?(?:at least )?(?<tokens>[\d,]+)/i,
  /(?:input|prompt) (?:token count )?\(?(?<tokens>[\d,]+) tokens?\)? (?:is longer than|exceeds|>) [^]{0,80}?(?<tokensMax>[\d,]+)/i,
  /request \((?<tokens>[\d,]+) tokens\) exceeds the available context size \((?<tokensMax>[\d,]+)/i,
];

const plainWordings: readonly RegExp[] = [
  /exceeds? (?:the |its |this model's )?(?:available |maximum |model's )?context (?:window|length|size|limit)/i,
  /maximum context length/i,
  /(?:prompt|input) is too long/i,
];

const codes = ['context_length_exceeded', 'context_window_exceeded', 'exceed_context_size_error'];

const countOf = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number(digits.replaceAll(',', '')));

/** Reads whether an error says that the input is too long for the model, and by how much where it says so. */
export function readContextOverflow(words: readonly string[], message: string): Overflow | undefined {
  for (const wording of countedWordings) {
    const groups = wording.exec(message)?.groups;
    if (groups === undefined) continue;
    const tokens = countOf(groups.tokens);
    const tokensMax = countOf(groups.tokensMax);
    return { ...(tokens === undefined ? {} : { tokens }), ...(tokensMax === undefined ? {} : { tokensMax }) };
  }
  return words.some((word) => codes.includes(word)) || plainWordings.some((wording) => wording.test(message)) ? {} : undefined;
}
