import type { Fraction } from '../decimal.ts';
import type { CountName, ParameterName } from './expression-names.ts';

type ArithmeticOperator = '+' | '-' | '*';
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type FunctionName = 'min' | 'max' | 'ceil' | 'floor' | 'present' | 'size';

/** A parsed expression. */
export type ExpressionNode =
  | { readonly type: 'number'; readonly value: Fraction }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  /** A value of the body that was sent upstream, by its JSON pointer. */
  | { readonly type: 'pointer'; readonly pointer: string }
  /** A value from the request or the vendor's reply. */
  | { readonly type: 'parameter'; readonly name: ParameterName }
  | { readonly type: 'count'; readonly name: CountName }
  | { readonly type: 'negate' | 'not'; readonly operand: ExpressionNode }
  | {
      readonly type: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: ExpressionNode;
      readonly right: ExpressionNode;
    }
  | { readonly type: 'compare'; readonly operator: CompareOperator; readonly left: ExpressionNode; readonly right: ExpressionNode }
  | { readonly type: 'in'; readonly left: ExpressionNode; readonly items: readonly ExpressionNode[] }
  | { readonly type: 'and' | 'or' | 'coalesce'; readonly left: ExpressionNode; readonly right: ExpressionNode }
  | { readonly type: 'choose'; readonly condition: ExpressionNode; readonly whenTrue: ExpressionNode; readonly whenFalse: ExpressionNode }
  | { readonly type: 'call'; readonly name: FunctionName; readonly operands: readonly ExpressionNode[] };

/** An expression that cannot be used, with the reason. `at` counts characters from 1. */
export class ExpressionError extends Error {
  readonly at: number | undefined;

  constructor(message: string, at?: number) {
    super(at === undefined ? message : `${message} (at character ${at})`);
    this.name = 'ExpressionError';
    this.at = at;
  }
}
