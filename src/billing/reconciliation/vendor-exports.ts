import { parseJson } from '../../platform/json/parse-json.ts';
import { JsonProblemError, scanJson } from '../../platform/json/scan-json.ts';
import { readAnthropicUsage } from './read-anthropic-usage.ts';
import { readAnthropicTable, readOpenAiTable } from './read-console-table.ts';
import { areAnthropicCosts, areOpenAiCosts, readAnthropicCosts, readOpenAiCosts } from './read-cost-pages.ts';
import { readGoogleUsage } from './read-google-usage.ts';
import { readOpenAiUsage } from './read-openai-usage.ts';
import type { VendorCosts } from './vendor-costs.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/** Readers of a vendor's exports, and the vendor's name in the ledger. All throw ExportError. */
export type VendorExport = {
  readonly ledgerVendor: string;
  /** Reads an export of usage. */
  readonly read: (text: string) => VendorUsage;
  /** Reads an export of costs; undefined for any other file. */
  readonly readCosts: (text: string) => VendorCosts | undefined;
};

/** By the vendor's name in commands. */
export const vendorExports: Readonly<Record<string, VendorExport>> = {
  openai: {
    ledgerVendor: 'openai',
    read: (text) => (isTable(text) ? asUsage(readOpenAiTable(text)) : readOpenAiUsage(readJson(text))),
    readCosts: (text) => {
      if (isTable(text)) return asCosts(readOpenAiTable(text));
      const json = readJson(text);
      return areOpenAiCosts(json) ? readOpenAiCosts(json) : undefined;
    },
  },
  anthropic: {
    ledgerVendor: 'anthropic',
    read: (text) => (isTable(text) ? asUsage(readAnthropicTable(text)) : readAnthropicUsage(readJson(text))),
    readCosts: (text) => {
      if (isTable(text)) return asCosts(readAnthropicTable(text));
      const json = readJson(text);
      return areAnthropicCosts(json) ? readAnthropicCosts(json) : undefined;
    },
  },
  google: { ledgerVendor: 'gemini', read: readGoogleUsage, readCosts: () => undefined },
};

/** A table begins with names of columns, JSON with a bracket. */
const isTable = (text: string): boolean => /^\ufeff?\s*[\w"]/.test(text) && (text.split('\n', 1)[0] ?? '').includes(',');

function asUsage(table: VendorUsage | VendorCosts): VendorUsage {
  if ('rows' in table) return table;
  throw new ExportError('the table has costs, not usage');
}

function asCosts(table: VendorUsage | VendorCosts): VendorCosts | undefined {
  return 'costs' in table ? table : undefined;
}

function readJson(text: string): unknown {
  // Some programs begin a file with a byte order mark.
  const plain = text.replace(/^\ufeff/, '');
  try {
    return parseJson(plain);
  } catch {
    throw new ExportError(`the file is not JSON: ${findPlace(plain)}`);
  }
}

/** Where a text stops being JSON. */
function findPlace(text: string): string {
  try {
    scanJson(Buffer.from(text), { depthMax: 100_000, tokensMax: Infinity });
  } catch (error) {
    if (error instanceof JsonProblemError) return placeOf(error);
    throw error;
  }
  return 'it cannot be parsed';
}

/** A problem of JSON in words, with its place. */
export function placeOf(problem: JsonProblemError): string {
  return problem.kind === 'incomplete' ? `it ends in the middle, at line ${problem.line}, column ${problem.column}` : problem.message;
}
