import { parseCsv } from './parse-csv.ts';
import { nameAnthropicCost, splitLineItem } from './read-cost-pages.ts';
import { checkCurrency, readUsd, type VendorCost, type VendorCosts } from './vendor-costs.ts';
import { ExportError, startOfDay, type UsageClass, type VendorUsage, type VendorUsageRow } from './vendor-usage.ts';

const dayMs = 86_400_000;

/** A row of a table: its fields by the names of their columns, in lower case. */
type Fields = Readonly<Record<string, string>>;
type Row = { readonly fields: Fields; readonly place: string };

/** The columns that a table of usage or of costs must have. Other columns, and the order, do not matter. */
type TableForm = { readonly name: string; readonly needs: readonly string[] };

/**
 * Columns of the usage table of Anthropic's console, as public programs read them; the vendor does not document them.
 */
const anthropicUsage: TableForm = {
  name: 'usage',
  needs: ['usage_date_utc', 'model_version', 'usage_input_tokens_no_cache', 'usage_input_tokens_cache_read', 'usage_output_tokens'],
};
const anthropicCosts: TableForm = { name: 'costs', needs: ['usage_date_utc', 'model', 'token_type', 'cost_usd'] };
/**
 * OpenAI's dashboard exports the answers of its API: columns have the names of members. Without the cached part, each
 * cache read would be a difference of two classes.
 */
const openAiUsage: TableForm = { name: 'usage', needs: ['start_time', 'model', 'input_tokens', 'input_cached_tokens', 'output_tokens'] };
const openAiCosts: TableForm = { name: 'costs', needs: ['start_time', 'amount_value', 'amount_currency', 'line_item'] };

/** A table of Anthropic's console: of usage or of costs, by its columns. @throws ExportError */
export function readAnthropicTable(text: string): VendorUsage | VendorCosts {
  const { form, rows } = readTable(text, [anthropicUsage, anthropicCosts]);
  const dayOf = ({ fields }: Row): number => startOfDay('UTC', (fields['usage_date_utc'] ?? '').slice(0, 10));
  if (form === anthropicUsage) return asUsage(rows, dayOf, readAnthropicCounts);
  return asCosts(rows, dayOf, ({ fields, place }) => ({
    ...nameAnthropicCost({ ...fields, model: idOfTitle(fields['model'] ?? '') }),
    usd: readUsd(fields['cost_usd'], `${place}: cost_usd`),
  }));
}

/** A table of OpenAI's dashboard: of usage or of costs, by its columns. @throws ExportError */
export function readOpenAiTable(text: string): VendorUsage | VendorCosts {
  const { form, rows } = readTable(text, [openAiUsage, openAiCosts]);
  if (form === openAiUsage) return asUsage(rows, timeOf, readOpenAiCounts);
  return asCosts(rows, timeOf, ({ fields, place }) => {
    checkCurrency(fields['amount_currency'], `${place}: amount_currency`);
    return { ...splitLineItem(fields['line_item']), usd: readUsd(fields['amount_value'], `${place}: amount_value`) };
  });
}

/** Detects the form of a table. @throws ExportError with the missing columns of each form */
function readTable(text: string, forms: readonly TableForm[]): { readonly form: TableForm; readonly rows: readonly Row[] } {
  const [header = [], ...lines] = parseCsv(text);
  const names = header.map((name) => name.trim().toLowerCase());
  const missing = forms.map(({ needs }) => needs.filter((name) => !names.includes(name)));
  const form = forms.find((_, index) => missing[index]?.length === 0);
  if (form === undefined) {
    const lacks = forms.map(({ name }, index) => `as one of ${name} it lacks ${missing[index]?.join(', ') ?? ''}`);
    throw new ExportError(`the table cannot be read: ${lacks.join('; ')}`);
  }
  const rows = lines.map((line, index) => ({
    fields: Object.fromEntries(names.map((name, column) => [name, line[column] ?? ''])),
    place: `line ${index + 2}`,
  }));
  if (rows.length === 0) throw new ExportError('the table has no rows');
  return { form, rows };
}

function asUsage(
  rows: readonly Row[],
  startOf: (row: Row) => number,
  countsOf: (row: Row) => Partial<Record<UsageClass, number>>,
): VendorUsage {
  const read = rows.map((row): VendorUsageRow => {
    const model = row.fields['model_version'] ?? row.fields['model'] ?? '';
    if (model === '') throw new ExportError(`${row.place}: the model is missing; export it by model`);
    return { model, startMs: startOf(row), counts: countsOf(row) };
  });
  return { ...spanOf(read), rows: read, unread: [] };
}

function asCosts(rows: readonly Row[], startOf: (row: Row) => number, costOf: (row: Row) => Omit<VendorCost, 'startMs'>): VendorCosts {
  const costs = rows.map((row) => ({ startMs: startOf(row), ...costOf(row) }));
  return { ...spanOf(costs), costs, unread: [] };
}

/** A table does not contain its end: it is the end of its last day. */
function spanOf(rows: readonly { readonly startMs: number }[]): Pick<VendorUsage, 'timeZone' | 'startMs' | 'endMs'> {
  const firstMs = rows.reduce((first, { startMs }) => Math.min(first, startMs), Number.POSITIVE_INFINITY);
  const lastMs = rows.reduce((last, { startMs }) => Math.max(last, startMs), 0);
  return { timeZone: 'UTC', startMs: firstMs, endMs: lastMs - (lastMs % dayMs) + dayMs };
}

function readAnthropicCounts({ fields, place }: Row): Partial<Record<UsageClass, number>> {
  return {
    input: readCount(fields, 'usage_input_tokens_no_cache', place),
    cache_read: readCount(fields, 'usage_input_tokens_cache_read', place),
    cache_write_5m: readCount(fields, 'usage_input_tokens_cache_write_5m', place),
    cache_write_1h: readCount(fields, 'usage_input_tokens_cache_write_1h', place),
    output: readCount(fields, 'usage_output_tokens', place),
    ...('web_search_count' in fields ? { web_searches: readCount(fields, 'web_search_count', place) } : {}),
  };
}

function readOpenAiCounts({ fields, place }: Row): Partial<Record<UsageClass, number>> {
  const cached = readCount(fields, 'input_cached_tokens', place);
  const written = readCount(fields, 'input_cache_write_tokens', place);
  const input = readCount(fields, 'input_tokens', place) - cached - written;
  if (input < 0) throw new ExportError(`${place}: input_tokens is less than the sum of its cached parts`);
  return {
    input,
    cache_read: cached,
    cache_write_5m: written,
    output: readCount(fields, 'output_tokens', place),
    ...('num_model_requests' in fields ? { requests: readCount(fields, 'num_model_requests', place) } : {}),
  };
}

/** A count; an empty or missing field is 0. */
function readCount(fields: Fields, name: string, place: string): number {
  const text = fields[name] ?? '';
  const count = /^\d*(\.0*)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count)) return count;
  throw new ExportError(`${place}: ${name} is not a count`);
}

/** Unix seconds, or a time as text, in UTC unless it has a zone. */
function timeOf({ fields, place }: Row): number {
  const text = (fields['start_time'] ?? '').trim();
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1000;
  const isBare = /^\d{4}-\d{2}-\d{2}([T ][\d:.]+)?$/.test(text);
  const ms = Date.parse(isBare && text.length > 10 ? `${text.replace(' ', 'T')}Z` : text);
  if (Number.isNaN(ms)) throw new ExportError(`${place}: start_time is not a time`);
  return ms;
}

/** The console names models by their titles: `Claude Haiku 4.5` is `claude-haiku-4-5`. */
function idOfTitle(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s.]+/g, '-');
}
