import { asList, asObject, type Json } from './conversation.ts';

/** The vectors of an answer, in the order of the inputs. */
export function vectorsOf(body: Json | undefined): readonly (readonly number[])[] {
  return asList(asObject(body)['data']).map((item) => asList(asObject(item)['embedding']).filter((value) => typeof value === 'number'));
}

/** How alike two vectors are: the cosine of their angle, from -1 to 1. Undefined for vectors that cannot be compared. */
export function similarity(one: readonly number[], other: readonly number[]): number | undefined {
  if (one.length !== other.length || one.length === 0) return undefined;
  const product = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  const sizes = Math.sqrt(product(one, one) * product(other, other));
  return sizes === 0 ? undefined : product(one, other) / sizes;
}
