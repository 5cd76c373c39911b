import { IsArray, IsCyclic, IsIntersect, IsObject, IsRecord, IsRef, IsSchema, IsTuple, IsUnion, type TObject, type TSchema } from 'typebox';
import { Clean, Clone } from 'typebox/value';

type Pick = (value: unknown) => unknown;

const picks = new WeakMap<TSchema, Pick>();
const asItIs: Pick = (value) => value;
const isStructured = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/**
 * A copy of a value with the members that its schema declares, as `Clean` of TypeBox makes it. That walks schema and
 * value again each time, and copies and checks all of a value that may be null: a large answer took it half a second.
 * Here the way through a schema is found once.
 */
export function pickDeclared(schema: TSchema, value: unknown): unknown {
  return pickOf(schema)(value);
}

const pickOf = (schema: TSchema): Pick => picks.getOrInsertComputed(schema, createPick);

function createPick(schema: TSchema): Pick {
  if (IsObject(schema)) return pickMembers(schema);
  if (IsArray(schema)) {
    const pick = pickOf(schema.items);
    return (value) => (Array.isArray(value) ? value.map((item) => pick(item)) : value);
  }
  if (IsUnion(schema)) {
    const structures = schema.anyOf.filter((member) => pickOf(member) !== asItIs);
    const [only, ...others] = structures;
    if (only === undefined) return asItIs;
    // The others have no members: null, texts, numbers.
    if (others.length === 0 && !schema.anyOf.some(isOpen)) {
      const pick = pickOf(only);
      return (value) => (isStructured(value) ? pick(value) : value);
    }
  }
  return [IsUnion, IsRecord, IsIntersect, IsTuple, IsRef, IsCyclic].some((is) => is(schema))
    ? (value) => Clean(schema, Clone(value))
    : asItIs;
}

/** Whether a schema without declared members allows values that have some. */
const isOpen = (schema: TSchema): boolean => pickOf(schema) === asItIs && !('type' in schema || 'enum' in schema || 'const' in schema);

function pickMembers(schema: TObject): Pick {
  const { additionalProperties: additional } = schema as { readonly additionalProperties?: unknown };
  if (additional === true || IsSchema(additional)) return (value) => Clean(schema, Clone(value));
  const members = Object.entries(schema.properties).map(([name, member]) => [name, pickOf(member)] as const);
  return (value) => {
    if (!isStructured(value) || Array.isArray(value)) return value;
    const picked: Record<string, unknown> = {};
    for (const [name, pick] of members) {
      const member = value[name];
      if (member !== undefined) picked[name] = pick === asItIs ? member : pick(member);
    }
    return picked;
  };
}
