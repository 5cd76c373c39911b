import { isJsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { importGenaiPrices } from './import-genai-prices.ts';
import { importLiteLlm } from './import-litellm.ts';
import { importNewApi } from './import-new-api.ts';
import type { ImportedBook, ImportOptions } from './imported-book.ts';

export const importFormats = ['litellm', 'genai-prices', 'new-api'] as const;

export type ImportFormat = (typeof importFormats)[number];

/** The format of a price list, from its content; undefined if it is unknown. */
export function detectFormat(file: JsonValue): ImportFormat | undefined {
  if (Array.isArray(file)) return file.some((each) => isJsonObject(each) && Array.isArray(each['models'])) ? 'genai-prices' : undefined;
  if (!isJsonObject(file)) return undefined;
  const data = isJsonObject(file['data']) ? file['data'] : file;
  if (isJsonObject(data['model_ratio']) || isJsonObject(data['model_price'])) return 'new-api';
  return Object.values(file).some((each) => isJsonObject(each) && 'litellm_provider' in each) ? 'litellm' : undefined;
}

/**
 * Imports a price list of another program. Data that cannot be imported is listed. A file in another format than the
 * given one has no entries.
 */
export function importPrices(file: JsonValue, format: ImportFormat, options: ImportOptions): ImportedBook {
  switch (format) {
    case 'litellm':
      return importLiteLlm(isJsonObject(file) ? file : {}, options);
    case 'genai-prices':
      return importGenaiPrices(Array.isArray(file) ? file : [], options);
    case 'new-api':
      return importNewApi(isJsonObject(file) ? file : {}, options);
  }
}
