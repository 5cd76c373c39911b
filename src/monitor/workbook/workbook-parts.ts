/** A sheet of the workbook and the cells that it filters, for example `A1:L8`; none where it filters nothing. */
export type SheetPart = { readonly name: string; readonly range?: string };

/** Positions in the style sheet below. */
export const cellStyles = {
  header: 1,
  text: 2,
  number: 3,
  amount: 4,
  count: 5,
  time: 6,
  countTotal: 7,
  amountTotal: 8,
  title: 9,
  wrapped: 10,
} as const;

const XML_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const MAIN_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

export function encodeContentTypes(sheetCount: number): string {
  const sheets = numbers(sheetCount).map(
    (number) => `<Override PartName="/${sheetPath(number)}" ContentType="${MAIN_TYPE}.worksheet+xml"/>`,
  );
  return (
    `${XML_HEAD}<Types xmlns="${PACKAGE}/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${MAIN_TYPE}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${MAIN_TYPE}.styles+xml"/>${sheets.join('')}</Types>`
  );
}

export function encodePackageRelationships(): string {
  return (
    `${XML_HEAD}<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${OFFICE}/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`
  );
}

export function encodeWorkbook(sheets: readonly SheetPart[]): string {
  const list = sheets.map(({ name }, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`);
  // Spreadsheet programs keep the filtered area under this hidden name too, and some show no filter without it.
  const filters = sheets.map(({ name, range }, index) => {
    if (range === undefined) return '';
    const area = range.replace(/([A-Z]+)(\d+)/g, '$$$1$$$2');
    return `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">'${name}'!${area}</definedName>`;
  });
  return (
    `${XML_HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}/relationships">` +
    `<sheets>${list.join('')}</sheets><definedNames>${filters.join('')}</definedNames></workbook>`
  );
}

export function encodeWorkbookRelationships(sheetCount: number): string {
  const sheets = numbers(sheetCount).map(
    (number) => `<Relationship Id="rId${number}" Type="${OFFICE}/relationships/worksheet" Target="worksheets/sheet${number}.xml"/>`,
  );
  return (
    `${XML_HEAD}<Relationships xmlns="${PACKAGE}/relationships">${sheets.join('')}` +
    `<Relationship Id="rId${sheetCount + 1}" Type="${OFFICE}/relationships/styles" Target="styles.xml"/></Relationships>`
  );
}

/**
 * Text cells have the format `@`, so that a name like `=1+1` stays text even when somebody edits the cell. Amounts are dollars, show six
 * decimals and keep all of theirs; negative ones, which corrections may be, are red.
 */
export function encodeStyles(): string {
  const cell = (format: number, font: number, more = ''): string =>
    `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"${more === '' ? '/>' : ` applyAlignment="1">${more}</xf>`}`;
  const [amount, time] = [164, 165];
  // In the order of cellStyles.
  const cells = [
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
    cell(49, 1),
    cell(49, 0),
    cell(1, 0),
    cell(amount, 0),
    cell(3, 0),
    cell(time, 0),
    cell(3, 1),
    cell(amount, 1),
    cell(49, 2),
    cell(49, 0, '<alignment vertical="top" wrapText="1"/>'),
  ];
  return (
    `${XML_HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="2">` +
    `<numFmt numFmtId="${amount}" formatCode="[$$-409]#,##0.000000;[RED]-[$$-409]#,##0.000000"/>` +
    `<numFmt numFmtId="${time}" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>` +
    '<fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font>' +
    '<font><b/><sz val="14"/><name val="Calibri"/></font></fonts>' +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${cells.length}">${cells.join('')}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
  );
}

export function sheetPath(number: number): string {
  return `xl/worksheets/sheet${number}.xml`;
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
