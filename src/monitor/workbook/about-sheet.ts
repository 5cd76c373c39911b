import { formatBucketTime } from '../../billing/statistics/format-bucket-time.ts';
import { granularityNames } from '../../billing/statistics/granularity.ts';
import type { StatisticsRequest, StatisticsScope } from '../../billing/statistics/statistics.ts';
import type { BillingTotals } from '../../billing/statistics/billing-record.ts';
import { billColumns, callColumns } from '../tables/table.ts';
import type { Cell, CellKind } from '../tables/table.ts';
import { sheetEnd, sheetStart } from './sheet-layout.ts';
import { encodeCell } from './sheet-xml.ts';
import { cellStyles } from './workbook-parts.ts';

/** What a workbook says of itself. */
export type About = {
  readonly request: StatisticsRequest;
  readonly scope: StatisticsScope;
  readonly timeZone: string;
  readonly generatedAtMs: number;
  /** Versions of the price books that priced the calls; undefined where nobody can say. */
  readonly priceVersions: readonly string[] | undefined;
  /** The sums of what was written before. */
  readonly totals: () => BillingTotals;
};

/** What was written before the sheet that tells of it. */
export type WrittenSheet = { readonly name: string; readonly rowCount: number };

/** Of the second column, in which long texts are wrapped. */
const lineCharacters = 80;
const lineHeight = 15;

/** `title` is for the foot of each printed page. */
type AboutOptions = { readonly title: string; readonly hasDetail: boolean };

type Line = readonly (readonly [value: Cell, style: number, kind?: CellKind])[];

/** The sheet that says what the others hold, as XML: question, time zone, sums and the meaning of each column. */
export function* writeAboutXml(about: About, sheets: readonly WrittenSheet[], { title, hasDetail }: AboutOptions): Generator<string> {
  const lines: readonly Line[] = [
    [['Billing statistics', cellStyles.title]],
    [],
    ...describeQuestion(about),
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
    // Programs that print without showing the sheet first leave a row as high as it says.
    yield `<row r="${row}"${linesHigh > 1 ? ` ht="${linesHigh * lineHeight}" customHeight="1"` : ''}>${cells.join('')}</row>`;
  }
  yield `</sheetData>${sheetEnd({ orientation: 'portrait', pagesAcross: 1 }, title)}`;
}

function callMeanings(): Line[] {
  return callColumns.map(({ field, meaning }) => labelled(field, meaning, cellStyles.wrapped));
}

function describeQuestion(about: About): Line[] {
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
  if (versions === undefined) return 'not known';
  return versions.length === 0 ? 'none' : versions.join(', ');
}

function labelled(label: string, value: Cell, style: number): Line {
  return [
    [label, cellStyles.label],
    [value, style],
  ];
}
