import assert from 'node:assert/strict';

import type { PricingParameters, Usage } from '../../../../inference/usage.ts';
import { writeDecimal } from '../../fraction.ts';
import { compileExpression, scopeOfCall, scopeOfPlan } from '../compile-expression.ts';

// For tests: the values of expressions after and before a call.

type CallFacts = { readonly usage?: Usage; readonly pricingParameters?: PricingParameters; readonly serviceTier?: string };

/** Whether a condition is true for a finished call. */
export function holds(text: string, { usage = {}, ...parameters }: CallFacts = {}): boolean {
  const value = compileExpression(text, 'condition').evaluate(scopeOfCall({ usage, ...parameters }));
  assert.ok(value.is === 'boolean' && value.mayBeTrue !== value.mayBeFalse, `${text} is certain`);
  return value.mayBeTrue;
}

/** The value of an expression for a finished call, as a decimal. */
export function amount(text: string, { usage = {}, ...parameters }: CallFacts = {}): string {
  const value = compileExpression(text, 'number').evaluate(scopeOfCall({ usage, ...parameters }));
  assert.ok(value.is === 'number' && !value.mayBeAbsent, `${text} is a number`);
  return value.low.numerator < 0n ? `-${writeDecimal({ ...value.low, numerator: -value.low.numerator })}` : writeDecimal(value.low);
}

/** The lowest and the highest value of an expression before a call, as decimals. */
export function bounds(text: string, most: Usage = {}, pricingParameters: PricingParameters = {}): readonly string[] {
  const value = compileExpression(text, 'number').evaluate(scopeOfPlan(most, pricingParameters));
  assert.ok(value.is === 'number' && !value.mayBeAbsent, `${text} is a number`);
  return [writeDecimal(value.low), writeDecimal(value.high)];
}
