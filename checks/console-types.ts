type SchemaNode = {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly $ref?: string;
};
type Parameter = { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: SchemaNode };
type Content = Readonly<Record<string, { readonly schema: SchemaNode }>>;
type DescribedOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>> };

const note = '// Written by `npm run docs` from the operations of the admin API. Do not edit.';

/** The types of the parts of each operation of the admin API, from its OpenAPI document. */
export function writeConsoleTypes(document: object): string {
  const types = listOperations(document).map(
    ({ operation }) => `  /** ${operation.summary} */\n  '${operation.operationId}': ${writeOperation(operation)};`,
  );
  return [note, '', '/** The parts of each operation, by its id. */', 'export type Operations = {', ...types, '};', ''].join('\n');
}

/** The table of routes that the console's client reads. */
export function writeConsoleRoutes(document: object): string {
  const routes = listOperations(document).map(({ path, method, operation }) => `  '${operation.operationId}': '${method} ${path}',`);
  return [
    note,
    '',
    "import type { Operations } from './operations.ts';",
    '',
    '/** Method and path of each operation. */',
    'export const routes: Readonly<Record<keyof Operations, string>> = {',
    ...routes,
    '};',
    '',
  ].join('\n');
}

function listOperations(document: object) {
  return Object.entries((document as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

function writeOperation({ parameters, requestBody, responses }: DescribedOperation): string {
  const partOf = (place: string): string => {
    const members = parameters.filter((parameter) => parameter.in === place);
    return members.length === 0
      ? '{}'
      : `{ ${members.map(({ name, required, schema }) => `${memberName(name)}${required ? '' : '?'}: ${writeType(schema)}`).join('; ')} }`;
  };
  const body = requestBody?.content['application/json']?.schema ?? Object.values(requestBody?.content ?? {})[0]?.schema;
  const reply = Object.entries(responses).find(([status]) => status !== 'default')?.[1].content?.['application/json']?.schema;
  return `{ params: ${partOf('path')}; query: ${partOf('query')}; body: ${body === undefined ? 'undefined' : writeType(body)}; reply: ${reply === undefined ? 'undefined' : writeType(reply)} }`;
}

const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** A JSON Schema as a type. A schema without a narrower type is `unknown`. */
function writeType(node: SchemaNode): string {
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum !== undefined) return node.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (node.anyOf !== undefined) return node.anyOf.map(writeType).join(' | ');
  if (node.allOf !== undefined) return node.allOf.map((part) => `(${writeType(part)})`).join(' & ');
  switch (node.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return node.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly (${node.items === undefined ? 'unknown' : writeType(node.items)})[]`;
    case 'object':
      return writeObject(node);
    case undefined:
    default:
      return 'unknown';
  }
}

function writeObject({ properties = {}, required = [], additionalProperties, patternProperties }: SchemaNode): string {
  const members = Object.entries(properties).map(
    ([name, member]) => `${memberName(name)}${required.includes(name) ? '' : '?'}: ${writeType(member)}`,
  );
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  const value = Object.values(patternProperties ?? {})[0] ?? additionalProperties;
  if (typeof value === 'object') return `{ readonly [name: string]: ${writeType(value)} }`;
  return value === false ? '{}' : '{ readonly [name: string]: unknown }';
}
