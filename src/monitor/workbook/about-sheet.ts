import { formatBucketTime } from '../../billing/statistics/format-bucket-time.ts';
import { granularityNames } from '../../billing/statistics/granularity.ts';
import type { StatisticsRequest, StatisticsScope } from '../../billing/statistics/statistics.ts';
import type { BillingTotals } from '../../billing/statistics/billing-record.ts';
import { billColumns, callColumns } from '../tables/table.ts';
import type { Cell, CellKind } from '../../billing/workbook/cell.ts';
import type { WrittenSheet } from '../../billing/workbook/list-sheets.ts';
import { sheetEnd, sheetStart } from '../../billing/workbook/sheet-layout.ts';
import { encodeCell } from '../../billing/workbook/sheet-xml.ts';
import { cellStyles } from '../../billing/workbook/workbook-parts.ts';

/** The facts that a workbook states about itself. */
export type About = {
  readonly request: StatisticsRequest;
  readonly scope: StatisticsScope;
  readonly timeZone: string;
  readonly generatedAtMs: number;
  /** Versions of the price books that priced the calls; undefined if the store cannot tell. */
  readonly priceVersions: readonly string[] | undefined;
  /** The totals of the rows that were written before. */
  readonly totals: () => BillingTotals;
};

/** Characters per line of the second column, which wraps long texts. */
const lineCharacters = 80;
const lineHeight = 15;

/** `title` is the footer of each printed page. */
type AboutOptions = { readonly title: string; readonly hasDetail: boolean };

type Line = readonly (readonly [value: Cell, style: number, kind?: CellKind])[];

/** The sheet that describes the others, as XML: query, time zone, totals and the meaning of each column. */
export function* writeAboutXml(
  about: About,
  sheets: readonly Pick<WrittenSheet, 'name' | 'rowCount'>[],
  { title, hasDetail }: AboutOptions,
): Generator<string> {
  const lines: readonly Line[] = [
    [['Billing statistics', cellStyles.title]],
    [],
    ...describeQuery(about),
    ...sheets.map(({ name, rowCount }) => labelled(`Rows on sheet ${name}`, rowCount, cellStyles.countLeft)),
    [],
    [['Totals', cellStyles.title]],
    ...Object.entries(about.totals()).map(([field, value]) =>
      labelled(field, value, field === 'totalAmount' ? cellStyles.amountLeft : cellStyles.countLeft),
    ),
    [],
    [['What the columns mean', cellStyles.title]],
    ...billColumns.map(({ field, meaning }) => labelled(field, meaning, cellStyles.wrapped)),
    ...(hasDetail ? [[], [['Columns of the calls', cellStyles.title]] as Line, ...callMeanings()] : []),
  ];
  yield `${sheetStart('')}<cols><col min="1" max="1" width="29" customWidth="1"/><col min="2" max="2" width="72" customWidth="1"/></cols><sheetData>`;
  for (const [index, line] of lines.entries()) {
    const row = index + 1;
    const cells = line.map(([value, style, kind = 'text'], column) => encodeCell(`${column === 0 ? 'A' : 'B'}${row}`, style, value, kind));
    const longest = Math.max(0, ...line.slice(1).map(([value]) => (typeof value === 'string' ? value.length : 0)));
    const linesHigh = Math.ceil(longest / lineCharacters);
    // Programs that print without showing the sheet first use the height that the row declares.
    yield `<row r="${row}"${linesHigh > 1 ? ` ht="${linesHigh * lineHeight}" customHeight="1"` : ''}>${cells.join('')}</row>`;
  }
  yield `</sheetData>${sheetEnd({ orientation: 'portrait', pagesAcross: 1 }, title)}`;
}

function callMeanings(): Line[] {
  return callColumns.map(({ field, meaning }) => labelled(field, meaning, cellStyles.wrapped));
}

function describeQuery(about: About): Line[] {
  const { request, scope, timeZone, generatedAtMs, priceVersions } = about;
  const at = (seconds: number): string => formatBucketTime(seconds, timeZone);
  const facts: readonly (readonly [string, string])[] = [
    ['Generated at', `${at(Math.floor(generatedAtMs / 1000))} (${new Date(generatedAtMs).toISOString()})`],
    ['Time zone of all times', timeZone],
    ['From, included', `${at(request.startSeconds)} (Unix ${request.startSeconds})`],
    ['Until, not included', `${at(request.endSeconds)} (Unix ${request.endSeconds})`],
    ['One row for each', `${granularityNames[request.granularity]}, user, API key and model that had calls`],
    ['A call counts where', 'its request was accepted, however long it took or late it was booked'],
    ['User', scope.userName ?? 'all users'],
    ['API key (tokenName)', request.tokenName ?? 'all'],
    ['Model (modelName)', request.modelName ?? 'all'],
    ['Currency', 'USD'],
    ['Price book versions', describeVersions(priceVersions)],
  ];
  return facts.map(([label, value]) => labelled(label, value, cellStyles.wrapped));
}

function describeVersions(versions: readonly string[] | undefined): string {
  if (versions === undefined) return 'unknown';
  return versions.length === 0 ? 'none' : versions.join(', ');
}

function labelled(label: string, value: Cell, style: number): Line {
  return [
    [label, cellStyles.label],
    [value, style],
  ];
}
