import { parseCsv } from './parse-csv.ts';
import { dayIn, ExportError, startOfDay, type UsageClass, type VendorUsage, type VendorUsageRow } from './vendor-usage.ts';

/** Google's billing days begin at midnight in this zone. */
const timeZone = 'America/Los_Angeles';

/** The required columns: the SKU, the day, the amount and its unit. Others are ignored. */
const columns = ['SKU description', 'Usage start date', 'Usage amount', 'Usage unit'] as const;
const units = new Set(['count', 'tokens']);

/**
 * The description of a SKU of the Gemini API, with a class of tokens and a model. A price tier may follow the model and
 * is ignored; any other word makes it another model or another unit.
 */
const sku =
  /^generate content (?<cached>cached content )?(?<side>input|output) token count (?<model>gemini \d+(?:\.\d+)? (?:flash lite|flash|pro))(?: (?:short|long|input|output|text))*$/;

/**
 * Reads a CSV table of Google Cloud Billing with a row for each SKU and day. Rows of other SKUs or units are named and
 * omitted. The table counts neither requests nor searches.
 * @throws ExportError
 */
export function readGoogleUsage(text: string): VendorUsage {
  const [header = [], ...lines] = parseCsv(text);
  const missing = columns.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new ExportError(`the table lacks the column ${missing.join(', ')}`);
  const cell = (line: readonly string[], column: (typeof columns)[number]): string => line[header.indexOf(column)] ?? '';
  const unread = new Set<string>();
  const rows: VendorUsageRow[] = [];
  for (const [index, line] of lines.entries()) {
    const name = cell(line, 'SKU description');
    const amount = cell(line, 'Usage amount');
    const unit = cell(line, 'Usage unit');
    // Totals at the end of the table have no SKU.
    if (name === '') continue;
    const read = readSku(name);
    if (read === undefined || !units.has(unit.toLowerCase())) {
      unread.add(`SKU ${name} (${amount} ${unit})`);
      continue;
    }
    const startMs = startOfDay(timeZone, cell(line, 'Usage start date'));
    rows.push({ model: read.model, startMs, counts: { [read.usageClass]: readAmount(amount, index + 2) } });
  }
  if (rows.length === 0) throw new ExportError('the table has no row with tokens of the Gemini API');
  const starts = rows.map(({ startMs }) => startMs);
  const endMs = startOfDay(timeZone, dayIn(timeZone, Math.max(...starts)), 1);
  return { timeZone, rows, startMs: Math.min(...starts), endMs, unread: [...unread] };
}

function readSku(name: string): { readonly model: string; readonly usageClass: UsageClass } | undefined {
  const groups = sku.exec(
    name
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ' ')
      .trim(),
  )?.groups;
  if (groups === undefined || (groups['cached'] !== undefined && groups['side'] === 'output')) return undefined;
  const usageClass = groups['side'] === 'output' ? 'output' : groups['cached'] === undefined ? 'input' : 'cache_read';
  return { model: (groups['model'] ?? '').replaceAll(' ', '-'), usageClass };
}

/** Amounts of tokens are integers, with or without separators of thousands. */
function readAmount(text: string, line: number): number {
  const plain = text.replaceAll(',', '');
  const amount = /^\d+(\.0*)?$/.test(plain) ? Number(plain) : Number.NaN;
  if (Number.isSafeInteger(amount)) return amount;
  throw new ExportError(`line ${line}: the usage amount "${text.slice(0, 32)}" is not a count`);
}
