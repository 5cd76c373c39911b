import { readAnthropicUsage } from './read-anthropic-usage.ts';
import { readGoogleUsage } from './read-google-usage.ts';
import { readOpenAiUsage } from './read-openai-usage.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/** How the exports of a vendor are read, and what the ledger calls the vendor. */
export type VendorExport = { readonly ledgerVendor: string; readonly read: (text: string) => VendorUsage };

/** By the word that a command takes. */
export const vendorExports: Readonly<Record<string, VendorExport>> = {
  openai: { ledgerVendor: 'openai', read: (text) => readOpenAiUsage(parseJson(text)) },
  anthropic: { ledgerVendor: 'anthropic', read: (text) => readAnthropicUsage(parseJson(text)) },
  google: { ledgerVendor: 'gemini', read: readGoogleUsage },
};

function parseJson(text: string): unknown {
  try {
    // Some programs begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new ExportError('the file is no JSON');
  }
}
