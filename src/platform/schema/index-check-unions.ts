import { jsonKind, noNode } from '../json/json-index.ts';
import { NameTable } from '../json/name-table.ts';
import { bitOf, type CompiledSchema, type IndexCheck, type SchemaCompiler } from './index-check.ts';
import type { Schema } from './schema-node.ts';

/**
 * A union. Only the branches that the kind of a value admits are tried, and of several objects only those that its
 * `type`, or the member that tells them apart, admits.
 */
export function compileUnion(compiler: SchemaCompiler, schemas: readonly Schema[]): CompiledSchema {
  const branches = schemas.map((schema) => ({ schema, ...compiler.compile(schema) }));
  const byKind = Object.values(jsonKind).map((kind) => {
    const possible = branches.filter(({ kinds }) => (kinds & bitOf(kind)) !== 0);
    const checks = possible.map(({ check }) => check);
    return kind === jsonKind.object
      ? compileVariants(
          possible.map(({ schema }) => schema),
          checks,
        )
      : tryEach(checks);
  });
  const kinds = branches.reduce((bits, branch) => bits | branch.kinds, 0);
  const sureKinds = branches.reduce((bits, branch) => bits | branch.sureKinds, 0);
  return { check: (index, node) => byKind[index.kind(node)]?.(index, node) === true, kinds, sureKinds };
}

function tryEach(checks: readonly IndexCheck[]): IndexCheck {
  const [first] = checks;
  if (first === undefined) return () => false;
  return checks.length === 1 ? first : (index, node) => checks.some((check) => check(index, node));
}

/** The texts that a property admits in one variant, as far as the schema lists them. */
type Admitted = { readonly texts: readonly string[]; readonly admits: (text: string) => boolean; readonly admitsOthers: boolean };

function readAdmitted(schema: Schema | undefined): Admitted | undefined {
  if (typeof schema !== 'object') return undefined;
  const { not } = schema;
  const refused = typeof not === 'object' ? textsOf(not.enum) : undefined;
  if (refused !== undefined) return { texts: refused, admits: (text) => !refused.includes(text), admitsOthers: true };
  const texts = textsOf('const' in schema ? [schema.const] : schema.enum);
  return texts === undefined ? undefined : { texts, admits: (text) => texts.includes(text), admitsOthers: false };
}

/** The texts of a list of names, which may include null. Undefined for anything else. */
function textsOf(values: readonly unknown[] | undefined): readonly string[] | undefined {
  const texts = values?.filter((value) => typeof value === 'string') ?? [];
  return texts.length === 0 ? undefined : texts;
}

const propertyOf = (schema: Schema, name: string): Schema | undefined =>
  typeof schema === 'object' && Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;

/** The member that tells most of the variants apart. Undefined if none tells two apart. */
function findMark(schemas: readonly Schema[]): string | undefined {
  const counts = new Map<string, number>();
  for (const schema of schemas) {
    if (typeof schema !== 'object') continue;
    for (const name of Object.keys(schema.properties ?? {}))
      if (readAdmitted(propertyOf(schema, name)) !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([, first], [, second]) => second - first);
  return best === undefined || best[1] < 2 ? undefined : best[0];
}

/** Several object schemas, of which one must fit. */
function compileVariants(schemas: readonly Schema[], checks: readonly IndexCheck[]): IndexCheck {
  const mark = checks.length < 2 ? undefined : findMark(schemas);
  if (mark === undefined) return tryEach(checks);
  const admitted = schemas.map((schema) => readAdmitted(propertyOf(schema, mark)));
  const choose = (admits: (by: Admitted) => boolean): IndexCheck =>
    tryEach(
      checks.filter((_, branch) => {
        const by = admitted[branch];
        return by === undefined || admits(by);
      }),
    );
  const table = new NameTable([...new Set(admitted.flatMap((by) => by?.texts ?? []))]);
  const byText = table.names.map((text) => choose(({ admits }) => admits(text)));
  const byOtherText = choose(({ admitsOthers }) => admitsOthers);
  // Without a text there, each branch decides by itself.
  const byNoText = tryEach(checks);
  return (index, node) => {
    const value = index.find(node, mark);
    if (value === noNode || index.kind(value) !== jsonKind.string) return byNoText(index, node);
    return (byText[table.find(index, value)] ?? byOtherText)(index, node);
  };
}
