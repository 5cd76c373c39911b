import type { ExportOptions } from './answers/export-options.ts';
import { granularityNames, isGranularity } from '../billing/statistics/granularity.ts';
import type { StatisticsRequest } from '../billing/statistics/statistics.ts';
import type { Form } from './answers/answers.ts';

/** In seconds this is later than the year 5138, in milliseconds it is March 1973: a larger value is in milliseconds. */
export const UNIX_SECONDS_MAX = 100_000_000_000;

export type BillingRequestReading = { readonly request: StatisticsRequest } | { readonly problems: readonly string[] };

/** The fields that each body may have. */
const queryFields = ['type', 'startTime', 'endTime', 'tokenName', 'modelName'];
const fieldsOf: Readonly<Record<Form, readonly string[]>> = {
  stats: queryFields,
  excel: [...queryFields, 'detail', 'totals'],
  csv: [...queryFields, 'detail'],
  jsonl: [...queryFields, 'detail'],
};
/** The most unknown fields that a refusal names. */
const namedMax = 5;

/**
 * Reads the body of /bill/stats and of the files (contract A 4.7). The refusal names every problem, unknown fields
 * included: otherwise a caller that filters by `userName` would mistake the bill of all users for the bill of one. An
 * empty or null name does not filter.
 */
export function readBillingRequest(body: unknown, form: Form): BillingRequestReading {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { problems: ['the body must be a JSON object'] };
  const fields = body as Readonly<Record<string, unknown>>;
  const problems = describeUnknown(Object.keys(fields), form);
  const granularity = readType(fields['type'], problems);
  const startSeconds = readSeconds('startTime', fields['startTime'], problems);
  const endSeconds = readSeconds('endTime', fields['endTime'], problems);
  const tokenName = readName('tokenName', fields['tokenName'], problems);
  const modelName = readName('modelName', fields['modelName'], problems);
  if (startSeconds !== undefined && endSeconds !== undefined && startSeconds >= endSeconds) {
    problems.push('startTime must be before endTime');
  }
  if (problems.length > 0 || granularity === undefined || startSeconds === undefined || endSeconds === undefined) return { problems };
  return {
    request: {
      granularity,
      startSeconds,
      endSeconds,
      ...(tokenName !== undefined && { tokenName }),
      ...(modelName !== undefined && { modelName }),
    },
  };
}

function describeUnknown(names: readonly string[], form: Form): string[] {
  const knownFields = fieldsOf[form];
  const unknown = names.filter((name) => !knownFields.includes(name));
  if (unknown.length === 0) return [];
  const named = unknown.slice(0, namedMax).map((name) => JSON.stringify(name.slice(0, 64)));
  const more = unknown.length > namedMax ? ` and ${unknown.length - namedMax} more` : '';
  const hint = unknown.includes('userName') ? '; the token decides whose calls are counted: use a token of that user' : '';
  return [
    `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${named.join(', ')}${more}: known fields are ${knownFields.join(', ')}${hint}`,
  ];
}

/** Reads the options of /bill/excel, /bill/csv and /bill/jsonl from a body that readBillingRequest accepted. */
export function readExportOptions(body: unknown): ExportOptions | { readonly problems: readonly string[] } {
  const fields = body as Readonly<Record<string, unknown>>;
  const problems: string[] = [];
  const detail = readFlag('detail', fields['detail'], problems) ?? false;
  const totals = readFlag('totals', fields['totals'], problems);
  return problems.length > 0 ? { problems } : { detail, totals };
}

function readFlag(field: string, value: unknown, problems: string[]): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  problems.push(`${field} must be true or false`);
  return undefined;
}

const typeChoices = Object.entries(granularityNames)
  .map(([type, name]) => `${type} (${name})`)
  .join(', ');

function readType(value: unknown, problems: string[]): StatisticsRequest['granularity'] | undefined {
  if (value === undefined || value === null) {
    problems.push(`type is required: one of ${typeChoices}`);
    return undefined;
  }
  // Clients that send forms write the number as a string.
  const type = typeof value === 'string' && /^[1-5]$/.test(value) ? Number(value) : value;
  if (typeof type === 'number' && isGranularity(type)) return type;
  problems.push(`type must be one of ${typeChoices}`);
  return undefined;
}

function readSeconds(field: string, value: unknown, problems: string[]): number | undefined {
  if (value === undefined || value === null) {
    problems.push(`${field} is required: an integer of Unix seconds`);
  } else if (typeof value !== 'number' || !Number.isInteger(value)) {
    problems.push(`${field} must be an integer of Unix seconds`);
  } else if (value > UNIX_SECONDS_MAX) {
    problems.push(`${field} must be in Unix seconds, not milliseconds`);
  } else if (value < 0) {
    problems.push(`${field} must not be negative`);
  } else {
    return value;
  }
  return undefined;
}

function readName(field: string, value: unknown, problems: string[]): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') problems.push(`${field} must be a string`);
  // PostgreSQL cannot store this character in text, and the query would fail.
  else if (value.includes('\u0000')) problems.push(`${field} must not contain the character U+0000`);
  else return value;
  return undefined;
}
