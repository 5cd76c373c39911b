import { abbreviateValue, jsonTypeOf } from './json-type.ts';
import type { ResolveRef, Schema } from './schema-node.ts';
import type { SchemaProblem } from './schema-problem.ts';
import {
  acceptsTypeOf,
  findDiscriminator,
  listBranches,
  literalsOf,
  propertyOf,
  showLiterals,
  typeNamesOf,
  unique,
} from './union-branches.ts';

export type UnionInput = {
  readonly branches: readonly Schema[];
  readonly value: unknown;
  readonly path: readonly (string | number)[];
  readonly resolve: ResolveRef;
  /** The problems of the value inside one branch; empty when it fits. */
  readonly describeBranch: (branch: Schema) => readonly SchemaProblem[];
};

/**
 * `likely`: branches that the value names itself. `possible`: branches that it does not exclude. `problem`: reported if
 * none fits.
 */
type Narrowed = { readonly likely: readonly Schema[]; readonly possible: readonly Schema[]; readonly problem?: SchemaProblem };

/**
 * Explains why a value fits no variant of a union, for the variant that the sender probably meant; empty if one fits. A
 * branch is excluded only if it cannot fit.
 */
export function describeUnion(input: UnionInput): readonly SchemaProblem[] {
  const { value, path, resolve } = input;
  const branches = listBranches(input.branches, resolve);
  const open = branches.filter((branch) => acceptsTypeOf(branch, value, resolve));
  if (open.length === 0) return [wrongType(branches, value, path, resolve)];
  const narrowed = narrow(open, input, []);
  const likely = new Set(narrowed.likely);
  let best: readonly SchemaProblem[] | undefined;
  let bestIsLikely = false;
  for (const branch of narrowed.possible) {
    const problems = input.describeBranch(branch);
    if (problems.length === 0) return [];
    const isLikely = likely.has(branch);
    const isBetter = best === undefined || (isLikely && !bestIsLikely) || (isLikely === bestIsLikely && problems.length < best.length);
    if (isBetter) [best, bestIsLikely] = [problems, isLikely];
  }
  if (narrowed.problem !== undefined && (best === undefined || best.some((problem) => problem.rule === 'required')))
    return [narrowed.problem];
  return open.length === 1 || typeof value === 'object' ? (best ?? []) : describePrimitive(open, best ?? [], input);
}

function wrongType(branches: readonly Schema[], value: unknown, path: readonly (string | number)[], resolve: ResolveRef): SchemaProblem {
  const names = unique(branches.flatMap((branch) => typeNamesOf(branch, resolve)));
  return { path, rule: 'type', expected: names.length === 1 ? (names[0] ?? names) : names, actual: jsonTypeOf(value) };
}

/**
 * Keeps the object branches that the value's discriminator allows, and repeats this while several branches share its
 * value.
 */
function narrow(branches: readonly Schema[], input: UnionInput, used: readonly string[]): Narrowed {
  const { value, path, resolve } = input;
  const name = branches.length > 1 && isRecord(value) ? findDiscriminator(branches, used, resolve) : undefined;
  if (name === undefined || !isRecord(value)) return { likely: branches, possible: branches };
  // An optional field that is `undefined` counts as absent, as in the compiled check.
  const isPresent = Object.hasOwn(value, name) && value[name] !== undefined;
  const matching: Schema[] = [];
  const silent: Schema[] = [];
  const allowed: unknown[] = [];
  for (const branch of branches) {
    const property = propertyOf(branch, name, resolve);
    const literals = property === undefined ? undefined : literalsOf(property.schema, resolve);
    if (property === undefined || literals === undefined) {
      silent.push(branch);
      continue;
    }
    allowed.push(...literals);
    if (isPresent ? literals.includes(value[name]) : !property.isRequired) matching.push(branch);
  }
  if (matching.length === 0) {
    const problem = discriminatorProblem([...path, name], isPresent ? value[name] : undefined, allowed);
    return { likely: silent, possible: silent, problem };
  }
  const inner = narrow(matching, input, [...used, name]);
  return { ...inner, possible: [...inner.possible, ...silent] };
}

function discriminatorProblem(path: readonly (string | number)[], actual: unknown, allowed: readonly unknown[]): SchemaProblem {
  const expected = showLiterals(allowed);
  if (actual === undefined) return { path, rule: 'required', expected };
  const types = unique(allowed.map((literal) => typeof literal));
  if (types.length === 1 && types[0] !== undefined && typeof actual !== types[0]) {
    return { path, rule: 'type', expected: types[0], actual: jsonTypeOf(actual) };
  }
  return { path, rule: 'enum', expected, actual: abbreviateValue(actual) };
}

/**
 * For a string or number that several variants could accept: the allowed values if all list them, otherwise the
 * requirement of each variant.
 */
function describePrimitive(open: readonly Schema[], best: readonly SchemaProblem[], input: UnionInput): readonly SchemaProblem[] {
  const lists = open.map((branch) => literalsOf(branch, input.resolve));
  const known = lists.filter((list) => list !== undefined);
  const actual = abbreviateValue(input.value);
  if (known.length === lists.length) return [{ path: input.path, rule: 'enum', expected: showLiterals(known.flat()), actual }];
  const rules = best.map((problem) => problem.rule);
  if (known.length === 0 && rules.length === 1 && rules[0] !== 'type') return best;
  const expected = unique(open.flatMap((branch) => showBranch(branch, input.resolve)));
  return [{ path: input.path, rule: 'no-variant', expected, actual }];
}

function showBranch(branch: Schema, resolve: ResolveRef): (string | number)[] {
  const literals = literalsOf(branch, resolve);
  if (literals !== undefined) return showLiterals(literals);
  const pattern = typeof branch === 'boolean' ? undefined : branch.pattern;
  return pattern === undefined ? typeNamesOf(branch, resolve) : [String(pattern)];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
