import { GatewayError } from '../../../inference/gateway-error.ts';
import type { FileFilter } from '../../../inference/inference-request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { type Attributes, autoChunking, type Chunking } from '../../../tools/file-search/file-objects.ts';
import type { ListPage } from '../../../tools/file-search/file-store.ts';

// Readers of fields of requests. Each throws GatewayError `invalid_value` with the name of the field.

export function invalid(param: string, expected: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid value for '${param}': ${expected}.`, { param });
}

/** Null counts as absent, as at the vendor. */
export function readOptional<Value>(value: JsonValue | undefined, read: (value: JsonValue) => Value): Value | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

export function readText(value: JsonValue | undefined, param: string, charactersMax = 512): string {
  if (value === undefined) throw new GatewayError('missing_required_field', `Missing required parameter: '${param}'.`, { param });
  if (typeof value === 'string' && value.length <= charactersMax) return value;
  throw invalid(param, `expected a string of at most ${charactersMax} characters`);
}

export function readInteger(value: JsonValue, param: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(param, `expected an integer from ${min} to ${max}`);
}

export function readNumber(value: JsonValue, param: string, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw invalid(param, `expected a number from ${min} to ${max}`);
}

export function readObject(value: JsonValue, param: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(param, 'expected an object');
}

export function readList(value: JsonValue, param: string, itemsMax: number): readonly JsonValue[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= itemsMax) return value as readonly JsonValue[];
  throw invalid(param, `expected an array of 1 to ${itemsMax} items`);
}

const pairsMax = 16;
const keyCharactersMax = 64;
const valueCharactersMax = 512;

function readPairs(value: JsonValue, param: string): readonly (readonly [string, JsonValue])[] {
  const pairs = Object.entries(readObject(value, param)).map(([key, item]) => [key, item ?? null] as const);
  if (pairs.length > pairsMax) throw invalid(param, `expected at most ${pairsMax} pairs`);
  const long = pairs.find(([key]) => key.length > keyCharactersMax);
  if (long !== undefined) throw invalid(param, `keys have at most ${keyCharactersMax} characters`);
  return pairs;
}

export function readMetadata(value: JsonValue, param: string): JsonObject {
  return Object.fromEntries(readPairs(value, param).map(([key, text]) => [key, readText(text, `${param}.${key}`, valueCharactersMax)]));
}

export function readAttributes(value: JsonValue, param: string): Attributes {
  return Object.fromEntries(readPairs(value, param).map(([key, item]) => [key, readAttribute(item, `${param}.${key}`)]));
}

function readAttribute(value: JsonValue, param: string): string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string' && value.length <= valueCharactersMax) return value;
  throw invalid(param, `expected a string of at most ${valueCharactersMax} characters, a number or a boolean`);
}

export function readChunking(value: JsonValue, param: string): Chunking {
  const strategy = readObject(value, param);
  if (strategy['type'] === 'auto') return autoChunking;
  if (strategy['type'] !== 'static') throw invalid(`${param}.type`, "expected 'auto' or 'static'");
  const fields = readObject(strategy['static'] ?? null, `${param}.static`);
  const tokensMax = readInteger(fields['max_chunk_size_tokens'] ?? null, `${param}.static.max_chunk_size_tokens`, 100, 4096);
  const overlapMax = Math.floor(tokensMax / 2);
  const overlapTokens = readInteger(fields['chunk_overlap_tokens'] ?? null, `${param}.static.chunk_overlap_tokens`, 0, overlapMax);
  return { isAuto: false, tokensMax, overlapTokens };
}

const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'] as const;
const filterDepthMax = 8;
const filterItemsMax = 100;

export function readFilter(value: JsonValue, param: string, depth = 0): FileFilter {
  const filter = readObject(value, param);
  const type = filter['type'];
  if (type === 'and' || type === 'or') {
    if (depth === filterDepthMax) throw invalid(param, `filters are nested at most ${filterDepthMax} deep`);
    const inner = readList(filter['filters'] ?? null, `${param}.filters`, filterItemsMax);
    return { kind: type, filters: inner.map((item, index) => readFilter(item, `${param}.filters[${index}]`, depth + 1)) };
  }
  const operator = operators.find((name) => name === type);
  if (operator === undefined) throw invalid(`${param}.type`, `expected one of ${[...operators, 'and', 'or'].join(', ')}`);
  const key = readText(filter['key'], `${param}.key`, keyCharactersMax);
  const isList = operator === 'in' || operator === 'nin';
  const read = (item: JsonValue, at: string): string | number | boolean => readAttribute(item, at);
  const operand = filter['value'] ?? null;
  const at = `${param}.value`;
  if (!isList) return { kind: 'compare', key, operator, value: read(operand, at) };
  return {
    kind: 'compare',
    key,
    operator,
    value: readList(operand, at, filterItemsMax).map((item, index) => read(item, `${at}[${index}]`)),
  };
}

/** Reads a list's page from a query. The limit has one row more than requested, which tells whether there are more. */
export function readPage(
  query: URLSearchParams,
  limits: { readonly limitMax: number; readonly fallback: number },
): ListPage & { readonly shown: number } {
  const limit = query.get('limit');
  const shown =
    limit === null ? limits.fallback : readInteger(/^\d{1,6}$/.test(limit) ? Number(limit) : limit, 'limit', 1, limits.limitMax);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalid('order', "expected 'asc' or 'desc'");
  const [after, before] = [query.get('after') ?? undefined, query.get('before') ?? undefined];
  return { limit: shown + 1, shown, order, after, before };
}
