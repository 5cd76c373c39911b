/** What is known of a prompt that was too long. */
export type ContextOverflow = { readonly tokens?: number; readonly tokensMax?: number };

type Wording = { readonly pattern: RegExp; readonly read?: (first: number, second: number, third: number) => ContextOverflow };

const sizes = (tokens: number, tokensMax: number): ContextOverflow => ({ tokens, tokensMax });
const sizesReversed = (tokensMax: number, tokens: number): ContextOverflow => ({ tokens, tokensMax });

/** How the vendor and servers that imitate it say that a prompt is too long; those with numbers first. */
const wordings: readonly Wording[] = [
  { pattern: /prompt is too long: *([\d,]+) tokens? > ([\d,]+)/i, read: sizes },
  {
    pattern: /input length and `?max_tokens`? exceed context limit: *([\d,]+) \+ ([\d,]+) > ([\d,]+)/i,
    read: (input, output, tokensMax) => ({ tokens: input + output, tokensMax }),
  },
  { pattern: /maximum context length is ([\d,]+) tokens[^]*?(?:requested|resulted in|has) ([\d,]+)/i, read: sizesReversed },
  { pattern: /input token count \(?([\d,]+)\)? exceeds the maximum number of tokens allowed \(?([\d,]+)/i, read: sizes },
  { pattern: /request \(([\d,]+) tokens\) exceeds the available context size \(([\d,]+)/i, read: sizes },
  { pattern: /prompt is too long|context_length_exceeded|model_context_window_exceeded|maximum context length/i },
  {
    pattern: /(?:exceeds?|exceeded|larger than|over) (?:the |its |model's )*(?:available |maximum )?context (?:size|length|window|limit)/i,
  },
  { pattern: /input is too long for (?:the )?requested model|exceeds the maximum number of tokens allowed/i },
];

/** Reads a refusal that says that the prompt does not fit into the model's context; undefined when it says something else. */
export function readContextOverflow(message: string): ContextOverflow | undefined {
  for (const { pattern, read } of wordings) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const [first = 0, second = 0, third = 0] = match.slice(1).map((digits) => Number(digits.replaceAll(',', '')));
    return read?.(first, second, third) ?? {};
  }
  return undefined;
}
