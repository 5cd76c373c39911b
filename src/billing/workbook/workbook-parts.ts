/** A sheet of the workbook. */
export type SheetPart = {
  readonly name: string;
  /** The cells with filters, for example `A1:L8`; undefined if there are none. */
  readonly range?: string;
  /** Repeated on each printed page: with `rows` the header, with `both` also the first column. */
  readonly titles?: 'rows' | 'both';
};

/** Indexes into the style sheet below. */
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
  headerRight: 11,
  textTotal: 12,
  label: 13,
  countLeft: 14,
  amountLeft: 15,
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
    `<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>` +
    `<Override PartName="/docProps/app.xml" ContentType="application/vnd.openxmlformats-officedocument.extended-properties+xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${MAIN_TYPE}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${MAIN_TYPE}.styles+xml"/>${sheets.join('')}</Types>`
  );
}

export function encodePackageRelationships(): string {
  return (
    `${XML_HEAD}<Relationships xmlns="${PACKAGE}/relationships">` +
    `<Relationship Id="rId1" Type="${OFFICE}/relationships/officeDocument" Target="xl/workbook.xml"/>` +
    `<Relationship Id="rId2" Type="${PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>` +
    `<Relationship Id="rId3" Type="${OFFICE}/relationships/extended-properties" Target="docProps/app.xml"/></Relationships>`
  );
}

/** The document properties: title, creator and time of creation. */
export function encodeCoreProperties(title: string, createdAtMs: number): string {
  const text = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const at = `${new Date(createdAtMs).toISOString().slice(0, 19)}Z`;
  return (
    `${XML_HEAD}<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
    'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
    `<dc:title>${text}</dc:title><dc:creator>Weir</dc:creator>` +
    `<dcterms:created xsi:type="dcterms:W3CDTF">${at}</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">${at}</dcterms:modified></cp:coreProperties>`
  );
}

export function encodeAppProperties(): string {
  return `${XML_HEAD}<Properties xmlns="${OFFICE}/extended-properties"><Application>Weir</Application></Properties>`;
}

export function encodeWorkbook(sheets: readonly SheetPart[]): string {
  const list = sheets.map(({ name }, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`);
  // Spreadsheet programs keep the filtered area also under this hidden name, and some show no filter without it.
  const filters = sheets.map(({ name, range }, index) => {
    if (range === undefined) return '';
    const area = range.replace(/([A-Z]+)(\d+)/g, '$$$1$$$2');
    return `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">'${name}'!${area}</definedName>`;
  });
  const titles = sheets.map(({ name, titles: repeated }, index) => {
    if (repeated === undefined) return '';
    const area = `${repeated === 'both' ? `'${name}'!$A:$A,` : ''}'${name}'!$1:$1`;
    return `<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${area}</definedName>`;
  });
  return (
    `${XML_HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}/relationships">` +
    `<sheets>${list.join('')}</sheets><definedNames>${filters.join('')}${titles.join('')}</definedNames></workbook>`
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

/** Indexes of a font, a fill and a border below, and the alignment as the format spells it. */
type CellStyle = { readonly font?: number; readonly fill?: number; readonly border?: number; readonly alignment?: string };

/**
 * Text cells have the format `@`, so that a name like `=1+1` stays text even if a user edits the cell. Amounts are
 * dollars, show six decimals and keep all of theirs; negative amounts, such as corrections, are red.
 */
export function encodeStyles(): string {
  const cell = (format: number, { font = 0, fill = 0, border = 0, alignment = '' }: CellStyle = {}): string =>
    `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="${border}" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"` +
    (alignment === '' ? '/>' : ` applyAlignment="1"><alignment ${alignment}/></xf>`);
  const [amount, time] = [164, 165];
  const [header, sum] = [
    { font: 1, fill: 2, border: 1 },
    { font: 1, border: 2 },
  ];
  // In the order of cellStyles. The indent separates a text from a number that ends at its left.
  const cells = [
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
    cell(49, { ...header, alignment: 'horizontal="left" vertical="top" wrapText="1" indent="1"' }),
    cell(49, { alignment: 'horizontal="left" vertical="top" wrapText="1" indent="1"' }),
    cell(1, { alignment: 'horizontal="right" vertical="top"' }),
    cell(amount, { alignment: 'horizontal="right" vertical="top"' }),
    cell(3, { alignment: 'horizontal="right" vertical="top"' }),
    cell(time, { alignment: 'horizontal="right" vertical="top"' }),
    cell(3, { ...sum, alignment: 'horizontal="right" vertical="center"' }),
    cell(amount, { ...sum, alignment: 'horizontal="right" vertical="center"' }),
    cell(49, { font: 2 }),
    cell(49, { alignment: 'vertical="top" wrapText="1"' }),
    cell(49, { ...header, alignment: 'horizontal="right" vertical="top" wrapText="1"' }),
    cell(49, { ...sum, alignment: 'horizontal="left" vertical="center" indent="1"' }),
    cell(49, { font: 1, alignment: 'vertical="top" wrapText="1"' }),
    cell(3, { alignment: 'horizontal="left" vertical="top"' }),
    cell(amount, { alignment: 'horizontal="left" vertical="top"' }),
  ];
  return (
    `${XML_HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="2">` +
    `<numFmt numFmtId="${amount}" formatCode="[$$-409]#,##0.000000;[RED]-[$$-409]#,##0.000000"/>` +
    `<numFmt numFmtId="${time}" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>` +
    '<fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font>' +
    '<font><b/><sz val="14"/><name val="Calibri"/></font></fonts>' +
    '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
    '<fill><patternFill patternType="solid"><fgColor rgb="FFE7EAEE"/><bgColor indexed="64"/></patternFill></fill></fills>' +
    '<borders count="3"><border><left/><right/><top/><bottom/><diagonal/></border>' +
    '<border><left/><right/><top/><bottom style="thin"><color auto="1"/></bottom><diagonal/></border>' +
    '<border><left/><right/><top style="thin"><color auto="1"/></top><bottom/><diagonal/></border></borders>' +
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
