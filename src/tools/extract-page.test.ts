import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { threadMs } from '../platform/thread-ms.ts';
import { decodeText } from './decode-text.ts';
import { extractPage, type ExtractedPage, type PageType } from './extract-page.ts';
import { scanHtml } from './scan-html.ts';

const paragraph = '<p>The tide in the harbour rises twice a day, and the keeper writes it in a book, with the hour and the height.</p>';

async function read(content: string | Buffer, mediaType: PageType = 'html', charset?: string): Promise<ExtractedPage | undefined> {
  return await extractPage({ bytes: Buffer.from(content), mediaType, charset }, () => {});
}

test('an article is read without menus, scripts and footers, with its headings and lists', async () => {
  const page = await read(`<html><head><title>Tides | Harbour</title><meta property="article:published_time" content="2026-03-02T10:00:00Z">
    <script>var hidden = "</div>secret";</script><style>p { color: red }</style></head>
    <body><nav><a href="/">Home</a><a href="/b">Subscribe</a></nav>
    <article><h1>Tides</h1>${paragraph.repeat(5)}<h2>Ranges</h2><ul><li>spring</li><li>neap</li></ul>${paragraph.repeat(3)}</article>
    <footer>Imprint</footer></body></html>`);
  assert.match(page?.title ?? '', /Tides/);
  assert.equal(page?.date, '2026-03-02T10:00:00Z');
  assert.match(page?.text ?? '', /## Ranges\n+- spring\n- neap/);
  assert.doesNotMatch(page?.text ?? '', /Subscribe|Imprint|secret|color/);
});

test('a page without an article is read as it is', async () => {
  const page = await read('<title>Prices</title><table><tr><td>Oak<td>80<tr><td>Ash<td>60</table>');
  assert.equal(page?.title, 'Prices');
  for (const word of ['Oak', '80', 'Ash', '60']) assert.match(page?.text ?? '', new RegExp(word));
});

test('texts, JSON and files without a type are read unchanged; other content is refused', async () => {
  assert.deepEqual(await read('  {"a": 1}\n', 'text'), { text: '{"a": 1}' });
  assert.deepEqual(await read('just words', 'unknown'), { text: 'just words' });
  assert.equal((await read('<!doctype html><title>T</title><p>words', 'unknown'))?.title, 'T');
  const noise = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 197) % 256));
  for (const mediaType of ['html', 'text', 'unknown'] as const) assert.equal(await read(noise, mediaType), undefined);
});

test('the encoding follows from a mark, a header, a declaration, or the content', () => {
  const text = 'Fischbrötchen für 5 €';
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
  assert.equal(decodeText(utf16, 'utf-8')?.replace('\uFEFF', ''), text);
  assert.equal(decodeText(Buffer.from([0xe4, 0xf6]), 'iso-8859-1'), 'äö');
  assert.equal(decodeText(Buffer.from('<meta charset="windows-1251">\xcf\xf0', 'latin1'), undefined), '<meta charset="windows-1251">Пр');
  assert.equal(decodeText(Buffer.from([0x66, 0xfc, 0x72, 0x20]), undefined), 'für ');
  assert.equal(decodeText(Buffer.from('über'), 'no-such-charset'), 'über');
  assert.equal(decodeText(Buffer.from('wörld').subarray(0, 2), undefined), 'w\uFFFD');
  assert.equal(decodeText(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'shift_jis'), '日本');
});

test('a hostile structure is never built, but read in one pass', async () => {
  const cases: Record<string, string> = {
    deep: `${'<div>'.repeat(100_000)}lamp`,
    'wrong ends': `${'<div></b></i>'.repeat(50_000)}lamp`,
    'hidden deep': `<svg>${'<div>'.repeat(50_000)}</svg>lamp`,
    wide: `${'<br>'.repeat(100_000)}lamp`,
    unclosed: `${'<p><b><i>'.repeat(20_000)}lamp`,
    'open tags': `lamp${'<a "'.repeat(100_000)}`,
    comments: `lamp${'<!--'.repeat(100_000)}`,
    titles: `lamp${'<title>'.repeat(100_000)}`,
    attributes: `<p ${'a=1 '.repeat(20_000)}>lamp</p>`,
  };
  for (const [name, html] of Object.entries(cases)) {
    const before = threadMs();
    const page = await read(`<body>${html}`);
    const took = threadMs() - before;
    assert.ok(took < 4000, `${name}: ${took.toFixed(0)} ms`);
    assert.match(page?.text ?? '', /lamp/, name);
  }
});

test('the measured depth is never less than the built depth', () => {
  const tags = fc.constantFrom(
    '<div>',
    '<b>',
    '<p>',
    '<li>',
    '<td>',
    '<tr>',
    '<svg>',
    '<br>',
    '</div>',
    '</b>',
    '</p>',
    '</svg>',
    '</td>',
    'x',
  );
  fc.assert(
    fc.property(fc.array(tags, { maxLength: 60 }), (pieces) => {
      const { depth } = scanHtml(pieces.join(''));
      // Counted for elements on which every parser agrees: elements with written ends.
      let open = 0;
      let most = 0;
      const stack: string[] = [];
      for (const piece of pieces) {
        if (piece === '<div>' || piece === '<b>') {
          stack.push(piece.slice(1, -1));
          open = stack.length;
          most = Math.max(most, open);
        } else if (piece === '</div>' || piece === '</b>') {
          const at = stack.lastIndexOf(piece.slice(2, -1));
          if (at >= 0) stack.length = at;
        }
      }
      assert.ok(depth >= most, `${depth} < ${most}`);
    }),
  );
});

test('property: any text is read without an error', async () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '<',
      '>',
      '<!--',
      '-->',
      '<script>',
      '</script>',
      '<title>',
      '&#x41;',
      '&#99999999;',
      '&bogus;',
      '"',
      "'",
      '<a href="',
      '<p/>',
      '\0',
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      await read(`<html><body>${pieces.join('')}`);
    }),
    { numRuns: 300 },
  );
});
