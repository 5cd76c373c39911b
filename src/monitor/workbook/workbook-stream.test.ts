import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import readXlsxFile from 'read-excel-file/node';
import type { BilledCallRecord } from '../../billing/statistics/billed-call-record.ts';
import { exactNumber } from '../../billing/statistics/exact-number.ts';
import { billingRecordFields, encodeBillingRecords } from '../../billing/statistics/billing-record.ts';
import { fakeRow } from '../../billing/statistics/testing/fake-row.ts';
import type { StatisticsRow } from '../../billing/statistics/statistics-store.ts';
import { unzip } from '../../billing/workbook/testing/unzip.ts';
import { createWorkbookStream } from './workbook-stream.ts';

type Records = Parameters<typeof createWorkbookStream>[0];

const modifiedAtMs = Date.UTC(2026, 0, 29, 12, 34, 56);

async function makeWorkbook(rows: readonly StatisticsRow[], recordsPerSheet?: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const options = { modifiedAtMs, ...(recordsPerSheet !== undefined && { recordsPerSheet }) };
  for await (const piece of createWorkbookStream([[...encodeBillingRecords(rows, 'Asia/Shanghai')]], options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A small strict reader: balanced tags, quoted attributes, known entities and legal characters only. */
function assertWellFormed(xml: string, name: string): void {
  // oxlint-disable-next-line no-control-regex -- these characters are what the check is about
  assert.doesNotMatch(xml, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/, name);
  assert.ok(xml.isWellFormed(), name);
  const open: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8" standalone="yes"\?>\n/, '');
  assert.notEqual(body, xml, name);
  let rest = 0;
  for (const match of body.matchAll(/<(\/?)([A-Za-z][\w:]*)((?: [\w:]+="[^"<&]*")*)(\/?)>/g)) {
    assert.doesNotMatch(body.slice(rest, match.index).replace(/&(amp|lt|gt);/g, ''), /[<&]|]]>/, name);
    rest = match.index + match[0].length;
    if (match[1] === '/') assert.equal(open.pop(), match[2], name);
    else if (match[4] === '') open.push(match[2] ?? '');
  }
  assert.equal(rest, body.length, name);
  assert.deepEqual(open, [], name);
}

/** Decodes `_xHHHH_` as a spreadsheet program does. */
function decodeEscapes(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

async function readSheets(archive: Buffer): Promise<{ sheet: string; data: unknown[][] }[]> {
  return await readXlsxFile(archive, { trim: false });
}

test('headers are the contract’s field names, numbers are numbers and the amount keeps every digit', async () => {
  const sheets = await readSheets(await makeWorkbook([fakeRow(), fakeRow({ tokenName: 'z', amountNanoUsd: 1n })]));
  assert.deepEqual(sheets, [
    {
      sheet: 'Bill',
      data: [
        [...billingRecordFields],
        ['2026-01-27 00:00:00', 1_769_443_200, 'alice', 'ci', 'm-flash', 1200, 340, 800, 0, 17, 5, 0.00123],
        ['2026-01-27 00:00:00', 1_769_443_200, 'alice', 'z', 'm-flash', 1200, 340, 800, 0, 17, 5, 0.000000001],
      ],
    },
  ]);
});

test('a workbook without records has only the header', async () => {
  const sheets = await readSheets(await makeWorkbook([]));
  assert.deepEqual(sheets, [{ sheet: 'Bill', data: [[...billingRecordFields]] }]);
});

test('the header is frozen and filtered, and amounts show dollars with six decimals', async () => {
  const files = unzip(await makeWorkbook([fakeRow()]));
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? '';
  assert.match(sheet, /<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"\/>/);
  assert.match(sheet, /<autoFilter ref="A1:L2"\/>/);
  assert.match(sheet, /<c r="L2" s="4"><v>0\.00123<\/v><\/c>/);
  assert.match(files.get('xl/workbook.xml') ?? '', />'Bill'!\$A\$1:\$L\$2</);
  assert.match(files.get('xl/styles.xml') ?? '', /numFmtId="164" formatCode="\[\$\$-409\]#,##0\.000000;/);
});

test('records continue on the next sheet when one is full, and none is lost or doubled', async () => {
  const rows = Array.from({ length: 7 }, (_, index) => fakeRow({ callCount: index + 1 }));
  const archive = await makeWorkbook(rows, 3);
  const sheets = await readSheets(archive);
  assert.deepEqual(
    sheets.map(({ sheet, data }) => [sheet, data.slice(1).map((cells) => cells[10])]),
    [
      ['Bill', [1, 2, 3]],
      ['Bill 2', [4, 5, 6]],
      ['Bill 3', [7]],
    ],
  );
  for (const [name, xml] of unzip(archive)) assertWellFormed(xml, name);
  assert.equal((await readSheets(await makeWorkbook(rows.slice(0, 6), 3))).length, 2);
});

const nasty = [
  "=cmd|' /C calc'!A0",
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ']]>',
  '</t></is></c><c r="A2"><f>1+1</f></c>',
  '&lt;&#0;&amp;',
  'a\u0000b',
  '\u0001\u001f\u007f\u0085',
  '\ud800',
  'x\udc00y',
  '\ufffe\uffff',
  '😀 和 é',
  '_x0041_',
  '_x005F_x0041_',
  '__x000D__',
  ' leading and trailing ',
  '"quoted" \'single\'',
  '1e5',
  '007',
  'TRUE',
  '',
];

function hostileNames(): string[] {
  const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));
  const fragment = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: anyUnit, maxLength: 12 }), fc.string({ maxLength: 12 }), anyUnit);
  const random = fc.sample(
    fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join('')),
    10_000,
  );
  return [...nasty, ...random];
}

/** The part of a name that a workbook can hold: every character that XML and UTF-8 can express. */
function shown(name: string): string {
  return name.toWellFormed().replace(/[\ufffe\uffff]/g, '\ufffd');
}

test('S8, F94: ten thousand hostile names stay text, in well-formed XML without any formula', async () => {
  const names = hostileNames();
  const archive = await makeWorkbook(names.map((name) => fakeRow({ userName: name, tokenName: name, modelName: name })));
  const files = unzip(archive);
  for (const [name, xml] of files) assertWellFormed(xml, name);
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? '';
  assert.doesNotMatch(sheet, /<f[ />]/);
  const cells = [...sheet.matchAll(/<c r="([CDE])(\d+)" s="2" t="inlineStr"><is><t xml:space="preserve">([^<]*)<\/t><\/is><\/c>/g)];
  assert.equal(cells.length, names.length * 3);
  for (const [, column, number, text = ''] of cells) {
    const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    assert.equal(decodeEscapes(plain), shown(names[Number(number) - 2] ?? ''), `${column}${number}`);
  }
});

test('a second reader library reads hostile names as strings too', async () => {
  const names = nasty.filter((name) => name.trim() !== '');
  const [sheet] = await readSheets(await makeWorkbook(names.map((name) => fakeRow({ userName: name }))));
  const read = sheet?.data.slice(1).map((cells) => cells[2]) ?? [];
  assert.deepEqual(
    read.map((cell) => (typeof cell === 'string' ? cell.trim() : cell)),
    names.map((name) => shown(name).trim()),
  );
});

test('a name longer than a cell is cut between characters, so that Excel accepts the workbook', async () => {
  for (const name of ['x'.repeat(40_000), `${'x'.repeat(32_765)}😀${'y'.repeat(100)}`]) {
    const [sheet] = await readSheets(await makeWorkbook([fakeRow({ userName: name })]));
    const text = sheet?.data[1]?.[2];
    assert.ok(typeof text === 'string' && text.length <= 32_767 && text.endsWith('…') && text.isWellFormed());
  }
});

test('records are read no faster than the archive', async () => {
  let read = 0;
  const inner = encodeBillingRecords(
    Array.from({ length: 50_000 }, () => fakeRow()),
    'UTC',
  );
  const records: Records = {
    *[Symbol.iterator]() {
      for (const record of inner) {
        read += 1;
        yield [record];
      }
    },
  };
  const stream = createWorkbookStream(records, { modifiedAtMs });
  for (let count = 0; count < 17; count += 1) await stream.next();
  for (let turns = 0; turns < 200; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(read > 0 && read < 20_000, `${read} records were read for the first pieces`);
  await stream.return(undefined);
  const readInAll = read;
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(read, readInAll, 'records were read after the reader stopped');
});

test('a failure interrupts the archive, whatever was sent before', async () => {
  const inner = encodeBillingRecords(
    Array.from({ length: 25_000 }, (_, index) => fakeRow({ callCount: index + 1 })),
    'UTC',
  );
  const broken = (failAfter: number): Records => ({
    *[Symbol.iterator]() {
      let index = 0;
      for (const record of inner) {
        index += 1;
        if (index > failAfter) throw new Error('the records broke');
        yield [record];
      }
    },
  });
  for (const records of [broken(0), broken(20_000)]) {
    const stream = createWorkbookStream(records, { modifiedAtMs });
    const pieces: Buffer[] = [];
    await assert.rejects(async () => {
      for await (const piece of stream) pieces.push(piece);
    }, /the records broke/);
    assert.equal(Buffer.concat(pieces).indexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06])), -1, 'the interrupted archive has a directory');
  }
});

const about = {
  request: { granularity: 3, startSeconds: 1_769_443_200, endSeconds: 1_769_616_000, tokenName: 'R&D <1>' },
  scope: {},
  timeZone: 'Asia/Shanghai',
  generatedAtMs: modifiedAtMs,
  priceVersions: ['book-1'],
} as const;

/** A workbook with every kind of sheet. */
async function makeWhole(rows: readonly StatisticsRow[], calls: readonly BilledCallRecord[]): Promise<Buffer> {
  const records = encodeBillingRecords(rows, 'Asia/Shanghai');
  const { totals } = records;
  const pieces: Buffer[] = [];
  const options = { modifiedAtMs, about: { ...about, totals }, totals, calls: [calls] };
  for await (const piece of createWorkbookStream([[...records]], options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const callRecord: BilledCallRecord = {
  requestId: 'req_0123456789012345678901234567',
  time: '2026-01-27 00:00:01',
  timeMs: 1_769_443_201_000,
  userName: 'alice',
  tokenName: 'ci',
  modelName: 'm-flash',
  promptTokens: 1200,
  completionTokens: 340,
  cacheTokens: 800,
  cacheCreationTokens: 7,
  useTimeMs: 1000,
  callCount: 1,
  amount: exactNumber('0.00123'),
  estimated: true,
  end: 'finished',
  priceVersion: 'book-1',
};

test('each printed page has the header row, its title and number, and readable columns', async () => {
  const files = unzip(await makeWhole([fakeRow()], [callRecord, { ...callRecord, estimated: false }]));
  for (const [name, xml] of files) assertWellFormed(xml, name);
  const workbook = files.get('xl/workbook.xml') ?? '';
  assert.match(workbook, /<definedName name="_xlnm\.Print_Titles" localSheetId="0">'Bill'!\$1:\$1<\/definedName>/);
  assert.match(workbook, /<definedName name="_xlnm\.Print_Titles" localSheetId="1">'Calls'!\$A:\$A,'Calls'!\$1:\$1<\/definedName>/);
  const [bill = '', calls = '', last = ''] = [1, 2, 3].map((number) => files.get(`xl/worksheets/sheet${number}.xml`));
  assert.match(bill, /<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"\/>/);
  assert.match(calls, /<pageSetup paperSize="9" orientation="landscape" fitToWidth="2" fitToHeight="0" pageOrder="overThenDown"\/>/);
  assert.match(last, /<pageSetup paperSize="9" orientation="portrait" fitToWidth="1" fitToHeight="0"\/>/);
  const foot =
    '&amp;L&amp;8Billing statistics by day, 2026-01-27 to 2026-01-29 (Asia/Shanghai)&amp;C&amp;8&amp;A&amp;R&amp;8Page &amp;P of &amp;N';
  for (const sheet of [bill, calls, last]) assert.ok(sheet.includes(`<oddFooter>${foot}</oddFooter>`));
});

test('headers align with their values, texts are separated from numbers, and booleans are words', async () => {
  const files = unzip(await makeWhole([fakeRow()], [callRecord, { ...callRecord, estimated: false }]));
  const alignments = Array.from(
    (files.get('xl/styles.xml') ?? '').replace(/^.*<cellXfs/s, '').matchAll(/<xf [^>]*?(?:\/>|>(.*?)<\/xf>)/g),
    ([, inner = '']) => /horizontal="(\w+)"/.exec(inner)?.[1],
  );
  for (const number of [1, 2]) {
    const sheet = files.get(`xl/worksheets/sheet${number}.xml`) ?? '';
    const alignmentOf = (row: number): (string | undefined)[] =>
      Array.from(sheet.matchAll(new RegExp(`<c r="[A-Z]${row}" s="(\\d+)"`, 'g')), ([, style]) => alignments[Number(style)]);
    assert.ok(alignmentOf(1).every((alignment) => alignment === 'left' || alignment === 'right'));
    assert.deepEqual(alignmentOf(1), alignmentOf(2));
  }
  const calls = files.get('xl/worksheets/sheet2.xml') ?? '';
  assert.match(calls, /<c r="N2" [^>]*t="inlineStr"><is><t [^>]*>yes</);
  assert.match(calls, /<c r="N3" [^>]*t="inlineStr"><is><t [^>]*>no</);
  // A spreadsheet shows a number that is wider than its column as ###.
  const widths = Array.from(calls.matchAll(/<col [^>]*width="(\d+)"/g), ([, width]) => Number(width));
  assert.ok((widths[2] ?? 0) >= String(callRecord.timeMs).length + 2, `${widths[2]}`);
  assert.ok((widths[0] ?? 0) >= callRecord.requestId.length + 2, `${widths[0]}`);
});

test('the document properties have a title and the time of creation', async () => {
  const files = unzip(await makeWhole([fakeRow()], []));
  const core = files.get('docProps/core.xml') ?? '';
  assert.match(core, /<dc:title>Billing statistics by day, 2026-01-27 to 2026-01-29 \(Asia\/Shanghai\)<\/dc:title>/);
  assert.match(core, /<dcterms:created xsi:type="dcterms:W3CDTF">2026-01-29T12:34:56Z<\/dcterms:created>/);
  assert.match(files.get('_rels/.rels') ?? '', /core-properties" Target="docProps\/core\.xml"/);
  assert.match(files.get('[Content_Types].xml') ?? '', /PartName="\/docProps\/core\.xml"/);
});

function findOffice(): string | undefined {
  for (const program of ['soffice', 'libreoffice']) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore', timeout: 30_000 });
      return program;
    } catch {
      // LibreOffice is not installed; the tests below are skipped.
    }
  }
  return undefined;
}

const office = findOffice();

test('LibreOffice reads the same cells', { skip: office === undefined ? 'LibreOffice is not installed' : false }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-workbook-'));
  try {
    writeFileSync(
      join(folder, 'bill.xlsx'),
      await makeWorkbook([fakeRow(), fakeRow({ userName: '=1+1', tokenName: 'tab\there', modelName: '+1' })]),
    );
    execFileSync(office ?? '', ['--headless', '--convert-to', 'csv', '--outdir', folder, join(folder, 'bill.xlsx')], {
      env: { ...process.env, HOME: folder },
      stdio: 'ignore',
      timeout: 60_000,
    });
    const csv = readFileSync(join(folder, 'bill.csv'), 'utf8').split('\n');
    assert.equal(csv[0], billingRecordFields.join(','));
    assert.equal(csv[1], '2026-01-27 00:00:00,1769443200,alice,ci,m-flash,1200,340,800,0,17,5,0.00123');
    assert.match(csv[2] ?? '', /,=1\+1,tab\there,\+1,/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test(
  'LibreOffice recalculates the workbook to the sums that it states',
  { skip: office === undefined ? 'LibreOffice is not installed' : false },
  async () => {
    const rows = Array.from({ length: 500 }, (_, index) =>
      fakeRow({ tokenName: `=SUM(A${index})`, promptTokens: index, amountNanoUsd: BigInt(index) * 1_000_001n }),
    );
    const records = encodeBillingRecords(rows, 'UTC');
    const pieces: Buffer[] = [];
    for await (const piece of createWorkbookStream([[...records]], { modifiedAtMs, totals: records.totals })) pieces.push(piece);
    const folder = mkdtempSync(join(tmpdir(), 'weir-workbook-'));
    try {
      writeFileSync(join(folder, 'bill.xlsx'), Buffer.concat(pieces));
      execFileSync(office ?? '', ['--headless', '--convert-to', 'csv', '--outdir', folder, join(folder, 'bill.xlsx')], {
        env: { ...process.env, HOME: folder },
        stdio: 'ignore',
        timeout: 60_000,
      });
      const [, ...lines] = readFileSync(join(folder, 'bill.csv'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => line.split(','));
      const totals = lines.pop() ?? [];
      assert.equal(lines.length, 500);
      const sum = (column: number): number => lines.reduce((total, cells) => total + Number(cells[column]), 0);
      assert.equal(totals[0], 'TOTAL');
      for (const column of [5, 6, 7, 8, 9, 10]) assert.equal(Number(totals[column]), sum(column));
      assert.ok(Math.abs(Number(totals[11]) - sum(11)) < 1e-6);
      assert.ok(lines.every((cells, index) => cells[3] === `=SUM(A${index})`));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
