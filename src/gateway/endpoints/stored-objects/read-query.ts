import type { PageQuery } from '../../../conversations/response-store.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { type Include, includeValues, type IncludeValue } from '../../../dialects/openai-responses/show-item.ts';

const limitDefault = 20;
const limitMax = 100;

const isIncludeValue = (value: string): value is IncludeValue => (includeValues as readonly string[]).includes(value);

/**
 * The requested additional members. Clients write `include[]=a&include[]=b`, `include=a&include=b` or `include=a,b`.
 * @throws GatewayError `invalid_value`
 */
export function readInclude(query: URLSearchParams): Include {
  const include = new Set<IncludeValue>();
  for (const [name, value] of query) {
    if (!/^include(?:\[[0-9]*\])?$/.test(name)) continue;
    for (const word of value.split(',')) {
      if (!isIncludeValue(word)) throw invalid('include', word, `one of ${includeValues.map((value) => `'${value}'`).join(', ')}`);
      include.add(word);
    }
  }
  return include;
}

/**
 * The requested page of a list.
 * @throws GatewayError `invalid_value`
 */
export function readPageQuery(query: URLSearchParams): PageQuery {
  const after = query.get('after') ?? '';
  const limit = query.get('limit') ?? String(limitDefault);
  const order = query.get('order') ?? 'desc';
  if (!/^[0-9]{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > limitMax) {
    throw invalid('limit', limit, `a whole number from 1 to ${limitMax}`);
  }
  if (order !== 'asc' && order !== 'desc') throw invalid('order', order, `'asc' or 'desc'`);
  return { limit: Number(limit), order, ...(after === '' ? {} : { after }) };
}

/**
 * A flag of the query; false if it is absent.
 * @throws GatewayError `invalid_value`
 */
export function readFlag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? 'false';
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0' || text === '') return false;
  throw invalid(name, text, 'true or false');
}

function invalid(param: string, text: string, right: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid value for '${param}': ${JSON.stringify(text.slice(0, 100))}. Expected ${right}.`, {
    param,
  });
}
