import type { PricingParameters, Usage } from '../../../inference/usage.ts';
import { fractionOf, zero } from '../fraction.ts';
import { checkExpression, type ExpressionPurpose, pointersOf } from './check-expression.ts';
import { evaluateExpression, type ExpressionScope } from './evaluate-expression.ts';
import { boundingCount, type CountName, countParts } from './expression-names.ts';
import { absent, between, exactly, type ExpressionValue, type NumberValue, readParameter, unknown } from './expression-value.ts';
import { parseExpression } from './parse-expression.ts';

/** A parsed and checked expression. */
export type Expression = {
  readonly text: string;
  readonly pointers: readonly string[];
  readonly evaluate: (scope: ExpressionScope) => ExpressionValue;
};

/** Parses and checks an expression. Throws ExpressionError. */
export function compileExpression(text: string, purpose: ExpressionPurpose): Expression {
  const node = parseExpression(text);
  checkExpression(node, purpose);
  return { text, pointers: pointersOf(node), evaluate: (scope) => evaluateExpression(node, scope) };
}

export type ScopedCall = {
  readonly usage: Usage;
  readonly pricingParameters?: PricingParameters | undefined;
  readonly serviceTier?: string | undefined;
};

/** The scope of a finished call, of which everything is known. */
export function scopeOfCall({ usage, pricingParameters, serviceTier }: ScopedCall): ExpressionScope {
  return {
    count: (name) => exactly({ numerator: sumOf(name, usage), denominator: countParts(name).per }),
    parameter: (name) => textOf(name === 'service_tier' ? serviceTier?.toLowerCase() : memberOf(pricingParameters, name)),
    pointer: (pointer) => readParameter(memberOf(pricingParameters, pointer)),
  };
}

/**
 * The scope of a planned call. A count is between 0 and its bound; input of any kind, and parts of input, may be all of
 * the input. Values of the vendor's reply are unknown; where a model is served is known.
 */
export function scopeOfPlan(most: Usage, pricingParameters: PricingParameters | undefined): ExpressionScope {
  return {
    count: (name) => mostOf(name, most),
    parameter: (name) => {
      if (name === 'service_tier') return unknown;
      return textOf(memberOf(pricingParameters, name), name === 'region' ? absent : unknown);
    },
    pointer: (pointer) => readParameter(memberOf(pricingParameters, pointer)),
  };
}

function memberOf(parameters: PricingParameters | undefined, name: string): string | undefined {
  return parameters === undefined || !Object.hasOwn(parameters, name) ? undefined : parameters[name];
}

function textOf(text: string | undefined, otherwise: ExpressionValue = absent): ExpressionValue {
  return text === undefined ? otherwise : { is: 'text', text };
}

function sumOf(name: CountName, usage: Usage): bigint {
  return countParts(name).counts.reduce((sum, count) => sum + BigInt(usage[count] ?? 0), 0n);
}

function mostOf(name: CountName, most: Usage): NumberValue {
  return between(zero, { numerator: sumOf(boundingCount(name), most), denominator: fractionOf(countParts(name).per).numerator });
}
