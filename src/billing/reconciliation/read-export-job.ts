import { isUtf8 } from 'node:buffer';

import type { JobContext } from '../../platform/isolation/isolated-job.ts';
import { JsonProblemError, scanJson } from '../../platform/json/scan-json.ts';
import { condenseAccount, encodeAccount, limitAccount, type VendorAccount } from './vendor-account.ts';
import { placeOf, vendorExports } from './vendor-exports.ts';
import { ExportError } from './vendor-usage.ts';

export type ExportOrder = {
  /** A name of `vendorExports`. */
  readonly vendor: string;
  readonly bytes: number;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

/** An account as encodeAccount writes it, or the reason why the file is none, with the place. */
export type ReadExport = { readonly type: 'account'; readonly json: string } | { readonly type: 'problem'; readonly problem: string };

export type ExportPart = { readonly start: number; readonly end: number };

const partBytes = 1024 * 1024;
/** Values and names of members; some hundreds of MiB of memory. */
const tokensMax = 4_000_000;
const depthMax = 64;
const zipStart = Buffer.from([0x50, 0x4b, 0x03, 0x04]);
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads a vendor's export, whose bytes it asks for. Runs in threads only. */
export async function run(order: ExportOrder, { ask }: JobContext<ExportPart, Uint8Array>): Promise<ReadExport> {
  try {
    const text = await readText(order.bytes, ask);
    const { from, to } = order;
    return { type: 'account', json: encodeAccount(condenseAccount(limitAccount(readExport(order.vendor, text), { from, to }))) };
  } catch (error) {
    if (error instanceof ExportError) return { type: 'problem', problem: error.message };
    throw error;
  }
}

async function readText(bytes: number, ask: JobContext<ExportPart, Uint8Array>['ask']): Promise<string> {
  const whole = Buffer.allocUnsafe(bytes);
  for (let start = 0; start < bytes; start += partBytes) whole.set(await ask({ start, end: Math.min(bytes, start + partBytes) }), start);
  if (whole.subarray(0, 4).equals(zipStart))
    throw new ExportError('the file is a ZIP archive or a workbook (xlsx); export it as CSV or JSON');
  const begin = whole.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
  if (!isUtf8(whole)) throw new ExportError('the file is not text in UTF-8');
  const content = whole.subarray(begin);
  if (/^\s*[[{]/.test(content.toString('latin1', 0, 100))) checkJson(content);
  return content.toString('utf8');
}

/**
 * Refuses JSON before it is parsed: parsing is one step, in which nothing limits the memory.
 * @throws ExportError with the place
 */
function checkJson(content: Buffer): void {
  try {
    scanJson(content, { depthMax, tokensMax });
  } catch (error) {
    if (!(error instanceof JsonProblemError)) throw error;
    if (error.kind === 'tokens') throw new ExportError(`the file has more than ${tokensMax} values: export fewer days`);
    throw new ExportError(`the file is not JSON: ${placeOf(error)}`);
  }
}

/** Reads an export of usage or of costs. @throws ExportError with the place */
export function readExport(vendor: string, text: string): VendorAccount {
  const source = vendorExports[vendor];
  if (source === undefined) throw new ExportError(`the vendor must be one of ${Object.keys(vendorExports).join(', ')}`);
  const costs = source.readCosts(text);
  return costs === undefined ? { kind: 'usage', usage: source.read(text) } : { kind: 'costs', costs };
}
