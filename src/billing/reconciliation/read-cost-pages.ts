import { type Members, noteUnread, readCount, readList, readObject, readPages } from './read-members.ts';
import { checkCurrency, noModel, readUsd, type VendorCost, type VendorCosts } from './vendor-costs.ts';
import { ExportError } from './vendor-usage.ts';

const openAiObject = 'organization.costs.result';
const openAiKnown = new Set(['object', 'amount', 'line_item', 'project_id', 'api_key_id', 'quantity', 'organization_id']);
const anthropicKnown = new Set(
  'amount currency cost_type description model token_type context_window service_tier inference_geo speed workspace_id'.split(' '),
);

/** Whether all pages are answers of OpenAI's costs endpoint. */
export function areOpenAiCosts(json: unknown): boolean {
  const objects = resultsOf(json).map(({ object }) => object);
  return objects.length > 0 && objects.every((object) => object === openAiObject);
}

/**
 * Whether pages are answers of Anthropic's cost report: its results have an amount, those of the usage report do not.
 */
export function areAnthropicCosts(json: unknown): boolean {
  const results = resultsOf(json);
  return results.length > 0 && results.every((result) => 'amount' in result);
}

/**
 * Reads pages of OpenAI's `GET /v1/organization/costs` with `group_by=line_item`: one page, or a list of them. A line
 * item is a model and a class, such as `gpt-5-mini-2025-08-07, cached input`; other names are kept.
 * @throws ExportError
 */
export function readOpenAiCosts(json: unknown): VendorCosts {
  const time = (members: Members, name: string, place: string): number => readCount(members, `${name}_time`, place) * 1000;
  return readBuckets(json, time, (members, place, unread) => {
    noteUnread(members, openAiKnown, unread);
    const amount = readObject(members['amount'], `${place}.amount`);
    checkCurrency(amount['currency'], `${place}.amount.currency`);
    return { ...splitLineItem(members['line_item']), usd: readUsd(amount['value'], `${place}.amount.value`) };
  });
}

/**
 * Reads pages of Anthropic's `GET /v1/organizations/cost_report` with `group_by[]=description`: one page, or a list of
 * them. Amounts are in cents. Costs of tools have no model.
 * @throws ExportError
 */
export function readAnthropicCosts(json: unknown): VendorCosts {
  const time = (members: Members, name: string, place: string): number => {
    const ms = Date.parse(String(members[`${name}ing_at`]));
    if (Number.isNaN(ms)) throw new ExportError(`${place}.${name}ing_at is not a time`);
    return ms;
  };
  return readBuckets(json, time, (members, place, unread) => {
    noteUnread(members, anthropicKnown, unread);
    checkCurrency(members['currency'], `${place}.currency`);
    return { ...nameAnthropicCost(members), usd: readUsd(members['amount'], `${place}.amount`, 100n) };
  });
}

const openAiItems: Readonly<Record<string, string>> = {
  input: 'input',
  'cached input': 'cache_read',
  'input cached': 'cache_read',
  'cache write': 'cache_write_5m',
  output: 'output',
  'audio input': 'input',
  'cached audio input': 'cache_read',
  'audio output': 'output',
  'image input': 'input',
  'image output': 'output',
};

/** The model and the item of an OpenAI line item. */
export function splitLineItem(lineItem: unknown): Pick<VendorCost, 'model' | 'item'> {
  if (typeof lineItem !== 'string' || lineItem === '') return { model: noModel, item: 'all' };
  const at = lineItem.lastIndexOf(',');
  const words = lineItem
    .slice(at + 1)
    .trim()
    .toLowerCase();
  const item = at === -1 ? undefined : openAiItems[words];
  if (item !== undefined) return { model: lineItem.slice(0, at).trim(), item };
  return { model: noModel, item: /^web search\b/i.test(lineItem) ? 'web_search' : lineItem };
}

const anthropicItems: Readonly<Record<string, string>> = {
  uncached_input_tokens: 'input',
  input_no_cache: 'input',
  cache_read_input_tokens: 'cache_read',
  input_cache_read: 'cache_read',
  'cache_creation.ephemeral_5m_input_tokens': 'cache_write_5m',
  input_cache_write_5m: 'cache_write_5m',
  'cache_creation.ephemeral_1h_input_tokens': 'cache_write_1h',
  input_cache_write_1h: 'cache_write_1h',
  output_tokens: 'output',
  output: 'output',
};
const anthropicTools: Readonly<Record<string, string>> = { web_search: 'web_search', code_execution: 'code_session' };

/** The model and the item of an Anthropic cost, by the members of its report or the columns of its table. */
export function nameAnthropicCost(members: Members): Pick<VendorCost, 'model' | 'item'> {
  const { model, token_type: tokenType, cost_type: costType, description } = members;
  const tool = anthropicTools[String(costType)];
  if (tool !== undefined) return { model: noModel, item: tool };
  const item = anthropicItems[String(tokenType)];
  const words = [tokenType, description, costType].find((word) => typeof word === 'string' && word !== '');
  return { model: typeof model === 'string' && model !== '' ? model : noModel, item: item ?? (typeof words === 'string' ? words : 'all') };
}

/** The results of all pages that have this form. */
function resultsOf(json: unknown): readonly Members[] {
  const members = (value: unknown): readonly Members[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? [readObject(value, '')] : [];
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  const pages = Array.isArray(json) ? json : [json];
  const buckets = pages.flatMap(members).flatMap((page) => list(page['data']).flatMap(members));
  return buckets.flatMap((bucket) => list(bucket['results']).flatMap(members));
}

function readBuckets(
  json: unknown,
  readTime: (bucket: Members, name: 'start' | 'end', place: string) => number,
  readResult: (members: Members, place: string, unread: Set<string>) => Omit<VendorCost, 'startMs'>,
): VendorCosts {
  const unread = new Set<string>();
  const costs: VendorCost[] = [];
  const bounds: number[] = [];
  for (const [page, members] of readPages(json, unread).entries()) {
    for (const [index, value] of readList(members['data'], `page ${page}.data`).entries()) {
      const place = `page ${page}.data.${index}`;
      const bucket = readObject(value, place);
      const startMs = readTime(bucket, 'start', place);
      bounds.push(startMs, readTime(bucket, 'end', place));
      for (const [position, result] of readList(bucket['results'], `${place}.results`).entries()) {
        const at = `${place}.results.${position}`;
        costs.push({ startMs, ...readResult(readObject(result, at), at, unread) });
      }
    }
  }
  return { timeZone: 'UTC', costs, startMs: Math.min(...bounds), endMs: Math.max(...bounds), unread: [...unread] };
}
