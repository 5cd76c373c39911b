import { isRecord } from '../../read-json.ts';
import type { Json, JsonRecord, VendorError } from '../../simulated-vendor.ts';
import { refuse } from './gemini-error.ts';
import { schemaMessage } from './generate-content-schema.ts';

/** The part of JSON Schema that describes the messages, with the vendor's type names. */
type FieldNode = {
  readonly type?: string;
  readonly proto?: string;
  readonly properties?: { readonly [name: string]: FieldNode };
  readonly items?: FieldNode;
  readonly enum?: readonly string[];
  readonly isFree?: boolean;
  readonly isSchema?: boolean;
  readonly isSchemaMap?: boolean;
};

type Violation = { readonly field: string; readonly description: string };
type Decoder = { readonly violations: Violation[] };

const depthMax = 100;

/** A message of the vendor with its compiled checker, which validates the decoded result. */
type Message<Body> = { readonly Schema: () => object; readonly Check: (value: unknown) => value is Body };

/**
 * Reads a body by the vendor's proto3 JSON rules: lowerCamelCase and snake_case names, null as absent, one value in
 * place of a list, numbers as strings, enums by number or in any case, base64 in either alphabet. Returns the body with
 * canonical names and values. Throws the vendor's refusal, which lists all errors.
 */
export function decodeProtoJson<Body>(message: Message<Body>, body: JsonRecord | undefined): Body {
  const decoder: Decoder = { violations: [] };
  const decoded: unknown = decodeMessage(decoder, message.Schema(), body ?? {}, '', 0);
  if (decoder.violations.length > 0) throw refuseViolations(decoder.violations);
  if (!message.Check(decoded)) throw refuse('Invalid JSON payload received.');
  return decoded;
}

function refuseViolations(violations: readonly Violation[]): VendorError {
  return refuse(violations.map((violation) => violation.description).join('\n'), 400, [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: violations.map(({ field, description }) => ({ ...(field !== '' && { field }), description })),
    },
  ]);
}

function decodeValue(decoder: Decoder, node: FieldNode, value: Json, path: string, depth: number): Json | undefined {
  if (depth > depthMax) return invalid(decoder, node, value, path);
  if (node.isSchema) return decodeMessage(decoder, schemaMessage as FieldNode, value, path, depth);
  if (node.isSchemaMap) return decodeSchemaMap(decoder, value, path, depth);
  if (node.isFree) return isRecord(value) ? value : invalid(decoder, node, value, path);
  if (node.enum) return decodeEnum(decoder, node, node.enum, value, path);
  switch (node.type ?? '') {
    case 'array':
      return decodeList(decoder, node.items ?? {}, value, path, depth);
    case 'object':
      return decodeMessage(decoder, node, value, path, depth);
    case 'string':
      return decodeText(decoder, node, value, path);
    case 'integer':
    case 'number':
      return decodeNumber(decoder, node, value, path);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      return value === 'true' || value === 'false' ? value === 'true' : invalid(decoder, node, value, path);
    default:
      return value;
  }
}

function decodeMessage(decoder: Decoder, node: FieldNode, value: Json, path: string, depth: number): Json | undefined {
  if (Array.isArray(value)) {
    const name = snakeCase(path.split('.').at(-1) ?? path);
    const description = `Invalid JSON payload received. Unknown name "${name}"${parentOf(path)}: Proto field is not repeating, cannot start list.`;
    decoder.violations.push({ field: path.split('.').slice(0, -1).join('.'), description });
    return undefined;
  }
  if (!isRecord(value)) return invalid(decoder, node, value, path);
  const result: JsonRecord = {};
  const properties = node.properties ?? {};
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? name : camelCase(name);
    const field = Object.hasOwn(properties, known) ? properties[known] : undefined;
    if (!field) {
      const at = path === '' ? '' : ` at '${path}'`;
      decoder.violations.push({
        field: path,
        description: `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`,
      });
      continue;
    }
    if (member === null || member === undefined) continue;
    const at = path === '' ? snakeCase(known) : `${path}.${snakeCase(known)}`;
    result[known] = decodeValue(decoder, field, member, at, depth + 1);
  }
  return result;
}

function decodeList(decoder: Decoder, items: FieldNode, value: Json, path: string, depth: number): Json {
  if (!Array.isArray(value)) return [decodeValue(decoder, items, value, path, depth + 1) ?? null];
  return value.map((item, index) => decodeValue(decoder, items, item, `${path}[${index}]`, depth + 1) ?? null);
}

function decodeSchemaMap(decoder: Decoder, value: Json, path: string, depth: number): Json | undefined {
  if (!isRecord(value)) return invalid(decoder, { proto: 'map' }, value, path);
  const result: JsonRecord = {};
  for (const [index, [name, member]] of Object.entries(value).entries()) {
    result[name] = decodeMessage(decoder, schemaMessage as FieldNode, member ?? {}, `${path}[${index}].value`, depth + 1);
  }
  return result;
}

function decodeEnum(decoder: Decoder, node: FieldNode, values: readonly string[], value: Json, path: string): Json | undefined {
  if (typeof value === 'number') return values[value] ?? invalid(decoder, node, value, path);
  const found =
    typeof value === 'string' ? (values.find((name) => name === value) ?? values.find((name) => name === value.toUpperCase())) : undefined;
  return found ?? invalid(decoder, node, value, path);
}

function decodeText(decoder: Decoder, node: FieldNode, value: Json, path: string): Json | undefined {
  if (typeof value !== 'string') return invalid(decoder, node, value, path);
  if (node.proto !== 'TYPE_BYTES') return value;
  if (/^[A-Za-z0-9+/_-]*={0,2}$/.test(value) && value.replace(/=+$/, '').length % 4 !== 1) return value;
  const shown = JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value);
  decoder.violations.push({ field: path, description: `Invalid value at '${path}' (TYPE_BYTES), Base64 decoding failed for ${shown}` });
  return undefined;
}

function decodeNumber(decoder: Decoder, node: FieldNode, value: Json, path: string): Json | undefined {
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') return invalid(decoder, node, value, path);
  return node.type === 'number' || Number.isInteger(number) ? number : invalid(decoder, node, value, path);
}

function invalid(decoder: Decoder, node: FieldNode, value: Json, path: string): undefined {
  const shown = isRecord(value) || Array.isArray(value) ? 'Starting an object on a scalar field' : JSON.stringify(value);
  decoder.violations.push({ field: path, description: `Invalid value at '${path}' (${node.proto ?? 'TYPE_MESSAGE'}), ${shown}` });
  return undefined;
}

function parentOf(path: string): string {
  const parent = path.split('.').slice(0, -1).join('.');
  return parent === '' ? '' : ` at '${parent}'`;
}

function camelCase(name: string): string {
  return name.replace(/(?<=[a-zA-Z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
