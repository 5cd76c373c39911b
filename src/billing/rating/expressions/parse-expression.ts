import { parseDecimal } from '../decimal.ts';
import { invert } from '../fraction.ts';
import { countNames, isCountName, isParameterName, parameterNames } from './expression-names.ts';
import { ExpressionError, type CompareOperator, type ExpressionNode, type FunctionName } from './expression-node.ts';
import { readTokens, type Token } from './read-tokens.ts';

const charactersMax = 500;
const nodesMax = 200;
const depthMax = 24;
const literalCharactersMax = 128;
const pointerCharactersMax = 128;

const compareSigns: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** The number of operands of each function. */
const functions: Readonly<Record<FunctionName, { readonly least: number; readonly most: number }>> = {
  min: { least: 2, most: 8 },
  max: { least: 2, most: 8 },
  ceil: { least: 1, most: 1 },
  floor: { least: 1, most: 1 },
  present: { least: 1, most: 1 },
  size: { least: 1, most: 1 },
};

const isFunctionName = (name: string): name is FunctionName => Object.hasOwn(functions, name);

/**
 * Parses an expression of at most 500 characters, 200 operands and operators, and a depth of 24; evaluating it takes at
 * most as many steps. The grammar is in docs/reference/price-book.md. Throws ExpressionError with the position of the
 * first problem.
 */
export function parseExpression(text: string): ExpressionNode {
  if (text.length > charactersMax) throw new ExpressionError(`an expression has at most ${charactersMax} characters`);
  const parser = new Parser(readTokens(text));
  return parser.parseWhole();
}

/** A recursive-descent parser; operators with the lowest precedence come first. */
class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #nodes = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parseWhole(): ExpressionNode {
    const node = this.#choose();
    const { type, text, at } = this.#peek();
    if (type !== 'end') throw new ExpressionError(`"${text}" is not expected here`, at);
    return node;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { type: 'end', text: '', at: 1 };
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #takeIf(type: 'sign' | 'word', ...texts: readonly string[]): Token | undefined {
    const token = this.#peek();
    return token.type === type && texts.includes(token.text) ? this.#take() : undefined;
  }

  #expect(text: string): void {
    if (this.#takeIf('sign', text) !== undefined) return;
    const found = this.#peek();
    throw new ExpressionError(`"${text}" is expected, got ${found.text === '' ? 'the end' : `"${found.text}"`}`, found.at);
  }

  #node(node: ExpressionNode): ExpressionNode {
    this.#nodes += 1;
    if (this.#nodes > nodesMax) throw new ExpressionError(`an expression has at most ${nodesMax} operands and operators`);
    return node;
  }

  #choose(): ExpressionNode {
    this.#depth += 1;
    if (this.#depth > depthMax) throw new ExpressionError(`an expression is at most ${depthMax} levels deep`, this.#peek().at);
    const condition = this.#or();
    let node = condition;
    if (this.#takeIf('sign', '?') !== undefined) {
      const whenTrue = this.#choose();
      this.#expect(':');
      node = this.#node({ type: 'choose', condition, whenTrue, whenFalse: this.#choose() });
    }
    this.#depth -= 1;
    return node;
  }

  #or(): ExpressionNode {
    let left = this.#and();
    while (this.#takeIf('word', 'or') !== undefined) left = this.#node({ type: 'or', left, right: this.#and() });
    return left;
  }

  #and(): ExpressionNode {
    let left = this.#not();
    while (this.#takeIf('word', 'and') !== undefined) left = this.#node({ type: 'and', left, right: this.#not() });
    return left;
  }

  #not(): ExpressionNode {
    let negations = 0;
    while (this.#takeIf('word', 'not') !== undefined) negations += 1;
    let node = this.#compare();
    for (; negations > 0; negations -= 1) node = this.#node({ type: 'not', operand: node });
    return node;
  }

  #compare(): ExpressionNode {
    const left = this.#sum();
    const sign = this.#peek();
    if (sign.type === 'sign' && compareSigns.has(sign.text)) {
      this.#take();
      return this.#node({ type: 'compare', operator: sign.text as CompareOperator, left, right: this.#sum() });
    }
    if (this.#takeIf('word', 'in') === undefined) return left;
    this.#expect('[');
    const items = this.#list(']', () => this.#literal());
    if (items.length === 0) throw new ExpressionError('the list is empty', sign.at);
    return this.#node({ type: 'in', left, items });
  }

  #sum(): ExpressionNode {
    let left = this.#product();
    for (;;) {
      const sign = this.#takeIf('sign', '+', '-');
      if (sign === undefined) return left;
      left = this.#node({ type: 'arithmetic', operator: sign.text === '+' ? '+' : '-', left, right: this.#product() });
    }
  }

  #product(): ExpressionNode {
    let left = this.#coalesce();
    for (;;) {
      const sign = this.#takeIf('sign', '*', '/');
      if (sign === undefined) return left;
      left = sign.text === '*' ? this.#node({ type: 'arithmetic', operator: '*', left, right: this.#coalesce() }) : this.#quotient(left);
    }
  }

  /** A divisor must be a literal number, so that nothing is ever divided by 0. */
  #quotient(left: ExpressionNode): ExpressionNode {
    const { type, text, at } = this.#take();
    if (type !== 'number' || parseDecimal(text).numerator === 0n)
      throw new ExpressionError('the divisor must be a literal number other than 0', at);
    return this.#node({
      type: 'arithmetic',
      operator: '*',
      left,
      right: this.#node({ type: 'number', value: invert(parseDecimal(text)) }),
    });
  }

  #coalesce(): ExpressionNode {
    let left = this.#unary();
    while (this.#takeIf('sign', '??') !== undefined) left = this.#node({ type: 'coalesce', left, right: this.#unary() });
    return left;
  }

  #unary(): ExpressionNode {
    let signs = 0;
    while (this.#takeIf('sign', '-') !== undefined) signs += 1;
    let node = this.#primary();
    for (; signs > 0; signs -= 1) node = this.#node({ type: 'negate', operand: node });
    return node;
  }

  #literal(): ExpressionNode {
    const { at } = this.#peek();
    const isNegative = this.#takeIf('sign', '-') !== undefined;
    const node = this.#primary();
    if (node.type === 'number' && isNegative) return this.#node({ type: 'negate', operand: node });
    if (!isNegative && (node.type === 'number' || node.type === 'text' || node.type === 'boolean')) return node;
    throw new ExpressionError('a list may contain only numbers, texts, true and false', at);
  }

  #primary(): ExpressionNode {
    const token = this.#take();
    switch (token.type) {
      case 'number':
        return this.#node({ type: 'number', value: parseDecimal(token.text.replace(/^0+(?=\d)/, '')) });
      case 'text':
        if (token.text.length > literalCharactersMax)
          throw new ExpressionError(`a text has at most ${literalCharactersMax} characters`, token.at);
        return this.#node({ type: 'text', text: token.text });
      case 'pointer':
        return this.#pointer(token);
      case 'word':
        return this.#word(token);
      case 'sign':
        if (token.text !== '(') break;
        return this.#grouped();
      case 'end':
        break;
    }
    throw new ExpressionError(`a value is expected, got ${token.text === '' ? 'the end' : `"${token.text}"`}`, token.at);
  }

  #grouped(): ExpressionNode {
    const node = this.#choose();
    this.#expect(')');
    return node;
  }

  #pointer({ text, at }: Token): ExpressionNode {
    if (text.length > pointerCharactersMax) throw new ExpressionError(`a pointer has at most ${pointerCharactersMax} characters`, at);
    if (/~(?![01])/.test(text)) throw new ExpressionError(`in ${text}, "~" must be written ~0 and "/" ~1`, at);
    return this.#node({ type: 'pointer', pointer: text });
  }

  #word({ text, at }: Token): ExpressionNode {
    if (text === 'true' || text === 'false') return this.#node({ type: 'boolean', value: text === 'true' });
    if (isFunctionName(text) && this.#takeIf('sign', '(') !== undefined) {
      const operands = this.#list(')', () => this.#choose());
      const { least, most } = functions[text];
      if (operands.length < least || operands.length > most)
        throw new ExpressionError(`${text} takes ${least === most ? least : `${least} to ${most}`} operands, not ${operands.length}`, at);
      return this.#node({ type: 'call', name: text, operands });
    }
    if (isParameterName(text)) return this.#node({ type: 'parameter', name: text });
    if (isCountName(text)) return this.#node({ type: 'count', name: text });
    const names = [...parameterNames, ...countNames, ...Object.keys(functions).map((name) => `${name}(…)`)].join(', ');
    throw new ExpressionError(
      `"${text.slice(0, 40)}" is not a known name; known are JSON pointers such as /metadata/quality, and: ${names}`,
      at,
    );
  }

  #list(end: ')' | ']', item: () => ExpressionNode): ExpressionNode[] {
    if (this.#takeIf('sign', end) !== undefined) return [];
    const items = [item()];
    while (this.#takeIf('sign', ',') !== undefined) items.push(item());
    this.#expect(end);
    return items;
  }
}
