import { ExpressionError } from './expression-node.ts';

export type Token =
  | { readonly type: 'number' | 'text' | 'pointer' | 'word'; readonly text: string; readonly at: number }
  | { readonly type: 'sign'; readonly text: string; readonly at: number }
  | { readonly type: 'end'; readonly text: ''; readonly at: number };

const patterns = {
  space: /\s+/y,
  number: /\d{1,12}(?:\.\d{1,12})?(?![\w.])/y,
  text: /"(?:[^"\\\n]|\\["\\])*"|'(?:[^'\\\n]|\\['\\])*'/y,
  pointer: /(?:\/[A-Za-z0-9_.~-]+)+/y,
  word: /[A-Za-z_]\w*/y,
  sign: /==|!=|<=|>=|\?\?|[-+*/<>?:()[\],]/y,
} as const;

/** Words between operands: an operand follows them, as after a sign. */
const operatorWords = new Set(['and', 'or', 'not', 'in']);

/**
 * Splits an expression into tokens. At the position of an operand `/` begins a JSON pointer; elsewhere it divides.
 * Throws ExpressionError.
 */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (;;) {
    at += match(patterns.space)?.length ?? 0;
    if (at === text.length) return [...tokens, { type: 'end', text: '', at: at + 1 }];
    const token = readToken(match, at + 1, mayBeginOperand(tokens.at(-1)));
    if (token === undefined) throw new ExpressionError(`"${text.slice(at, at + 16)}" is not a known token`, at + 1);
    tokens.push(token.token);
    at += token.length;
  }
}

function mayBeginOperand(last: Token | undefined): boolean {
  if (last === undefined) return true;
  if (last.type === 'sign') return last.text !== ')';
  return last.type === 'word' && operatorWords.has(last.text);
}

function readToken(
  match: (pattern: RegExp) => string | undefined,
  at: number,
  isOperand: boolean,
): { readonly token: Token; readonly length: number } | undefined {
  const pointer = isOperand ? match(patterns.pointer) : undefined;
  if (pointer !== undefined) return { token: { type: 'pointer', text: pointer, at }, length: pointer.length };
  const quoted = match(patterns.text);
  if (quoted !== undefined)
    return { token: { type: 'text', text: quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1'), at }, length: quoted.length };
  for (const type of ['number', 'word', 'sign'] as const) {
    const found = match(patterns[type]);
    if (found !== undefined) return { token: { type, text: found, at }, length: found.length };
  }
  return undefined;
}
