import { ExpressionError, type ExpressionNode } from './expression-node.ts';

/**
 * The type of a value before there is one. A `value` is read with a pointer: its type follows from what it is compared
 * or calculated with.
 */
type ExpressionType = { readonly is: 'number' | 'text' | 'boolean' | 'value'; readonly mayBeAbsent: boolean };

/** The use of an expression: as a condition, or as a number. */
export type ExpressionPurpose = 'condition' | 'number';

/** Finds errors that do not depend on a request. Throws ExpressionError. */
export function checkExpression(node: ExpressionNode, purpose: ExpressionPurpose): void {
  const type = typeOf(node);
  if (purpose === 'condition') {
    if (type.is !== 'boolean') throw new ExpressionError(`a condition must be true or false, got ${nameOf(type)}`);
    return;
  }
  if (type.is !== 'number' && type.is !== 'value') throw new ExpressionError(`a number is required, got ${nameOf(type)}`);
  if (type.mayBeAbsent) throw new ExpressionError('it may be absent or not a number; add a default, for example /metadata/seconds ?? 5');
}

function nameOf({ is }: ExpressionType): string {
  return { number: 'a number', text: 'a text', boolean: 'true or false', value: 'a value of the request' }[is];
}

const booleanType: ExpressionType = { is: 'boolean', mayBeAbsent: false };

function typeOf(node: ExpressionNode): ExpressionType {
  switch (node.type) {
    case 'number':
    case 'count':
      return { is: 'number', mayBeAbsent: false };
    case 'text':
      return { is: 'text', mayBeAbsent: false };
    case 'boolean':
      return booleanType;
    case 'pointer':
      return { is: 'value', mayBeAbsent: true };
    case 'parameter':
      return { is: 'text', mayBeAbsent: true };
    case 'negate':
      return numberOf([node.operand]);
    case 'arithmetic':
      return numberOf([node.left, node.right]);
    case 'not':
      return truthOf([node.operand]);
    case 'and':
    case 'or':
      return truthOf([node.left, node.right]);
    case 'compare':
      return typeOfComparison(node);
    case 'in':
      return typeOfMembership(node);
    case 'coalesce':
      return typeOfCoalesce(typeOf(node.left), typeOf(node.right));
    case 'choose':
      truthOf([node.condition]);
      return typeOfChoice(typeOf(node.whenTrue), typeOf(node.whenFalse));
    case 'call':
      return typeOfCall(node);
  }
}

function numberOf(operands: readonly ExpressionNode[]): ExpressionType {
  const types = operands.map(typeOf);
  const wrong = types.find(({ is }) => is !== 'number' && is !== 'value');
  if (wrong !== undefined) throw new ExpressionError(`${nameOf(wrong)} cannot be calculated with`);
  return { is: 'number', mayBeAbsent: types.some(({ mayBeAbsent }) => mayBeAbsent) };
}

function truthOf(operands: readonly ExpressionNode[]): ExpressionType {
  for (const operand of operands) {
    const type = typeOf(operand);
    if (type.is !== 'boolean')
      throw new ExpressionError(`and, or, not and ? need a condition, got ${nameOf(type)}; compare it, for example /x == true`);
  }
  return booleanType;
}

function equatable(left: ExpressionType, right: ExpressionType): ExpressionType {
  if (left.is !== right.is && left.is !== 'value' && right.is !== 'value')
    throw new ExpressionError(`${nameOf(left)} and ${nameOf(right)} are never equal`);
  return booleanType;
}

function typeOfMembership({ left, items }: Extract<ExpressionNode, { type: 'in' }>): ExpressionType {
  const type = typeOf(left);
  for (const item of items) equatable(type, typeOf(item));
  return booleanType;
}

function typeOfComparison({ operator, left, right }: Extract<ExpressionNode, { type: 'compare' }>): ExpressionType {
  if (operator === '==' || operator === '!=') return equatable(typeOf(left), typeOf(right));
  numberOf([left, right]);
  return booleanType;
}

/**
 * `a ?? b`: both have the same type, or the first is a value, which gets the type of the second. The second decides
 * whether the result may be absent.
 */
function typeOfCoalesce(left: ExpressionType, right: ExpressionType): ExpressionType {
  if (left.is !== right.is && left.is !== 'value' && right.is !== 'value') throw mixed(left, right);
  return { is: left.is === 'value' ? right.is : left.is, mayBeAbsent: right.mayBeAbsent };
}

/** Both branches have the same type. The type of a bare value depends on the request, so it needs a default. */
function typeOfChoice(whenTrue: ExpressionType, whenFalse: ExpressionType): ExpressionType {
  if (whenTrue.is === 'value' || whenFalse.is === 'value')
    throw new ExpressionError('after ? and : a value of the request needs a default, for example /metadata/fps ?? 24');
  if (whenTrue.is !== whenFalse.is) throw mixed(whenTrue, whenFalse);
  return { is: whenTrue.is, mayBeAbsent: whenTrue.mayBeAbsent || whenFalse.mayBeAbsent };
}

function mixed(one: ExpressionType, other: ExpressionType): ExpressionError {
  return new ExpressionError(`the values are ${nameOf(one)} and ${nameOf(other)}; both must have the same type`);
}

function typeOfCall({ name, operands }: Extract<ExpressionNode, { type: 'call' }>): ExpressionType {
  if (name !== 'present' && name !== 'size') return numberOf(operands);
  const [operand] = operands;
  if (operand?.type !== 'pointer' && !(name === 'present' && operand?.type === 'parameter'))
    throw new ExpressionError(`${name} needs a JSON pointer, for example ${name}(/metadata/images)`);
  return name === 'present' ? booleanType : { is: 'number', mayBeAbsent: true };
}

/** Every JSON pointer of an expression, without duplicates. */
export function pointersOf(node: ExpressionNode): string[] {
  const found = new Set<string>();
  const visit = (each: ExpressionNode): void => {
    if (each.type === 'pointer') found.add(each.pointer);
    for (const part of partsOf(each)) visit(part);
  };
  visit(node);
  return [...found];
}

function partsOf(node: ExpressionNode): readonly ExpressionNode[] {
  switch (node.type) {
    case 'negate':
    case 'not':
      return [node.operand];
    case 'arithmetic':
    case 'compare':
    case 'and':
    case 'or':
    case 'coalesce':
      return [node.left, node.right];
    case 'in':
      return [node.left, ...node.items];
    case 'choose':
      return [node.condition, node.whenTrue, node.whenFalse];
    case 'call':
      return node.operands;
    case 'number':
    case 'text':
    case 'boolean':
    case 'pointer':
    case 'parameter':
    case 'count':
      return [];
  }
}
