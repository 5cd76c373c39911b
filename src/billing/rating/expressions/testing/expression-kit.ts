import assert from 'node:assert/strict';

import type { PricingParameters, Usage } from '../../../../inference/usage.ts';
import { writeDecimal } from '../../fraction.ts';
import { compileExpression, scopeOfCall, scopeOfPlan } from '../compile-expression.ts';

// For tests: what expressions come to after and before a call.

type Known = { readonly usage?: Usage; readonly pricingParameters?: PricingParameters; readonly serviceTier?: string };

/** Whether a condition holds for a call of which everything is known. */
export function holds(text: string, { usage = {}, ...known }: Known = {}): boolean {
  const value = compileExpression(text, 'condition').evaluate(scopeOfCall({ usage, ...known }));
  assert.ok(value.is === 'boolean' && value.mayBeTrue !== value.mayBeFalse, `${text} is certain`);
  return value.mayBeTrue;
}

/** What an expression comes to for a call of which everything is known, as a decimal. */
export function amount(text: string, { usage = {}, ...known }: Known = {}): string {
  const value = compileExpression(text, 'number').evaluate(scopeOfCall({ usage, ...known }));
  assert.ok(value.is === 'number' && !value.mayBeAbsent, `${text} is a number`);
  return value.low.numerator < 0n ? `-${writeDecimal({ ...value.low, numerator: -value.low.numerator })}` : writeDecimal(value.low);
}

/** The least and the most that an expression can come to before a call, as decimals. */
export function bounds(text: string, most: Usage = {}, pricingParameters: PricingParameters = {}): readonly string[] {
  const value = compileExpression(text, 'number').evaluate(scopeOfPlan(most, pricingParameters));
  assert.ok(value.is === 'number' && !value.mayBeAbsent, `${text} is a number`);
  return [writeDecimal(value.low), writeDecimal(value.high)];
}
