import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseHTML } from 'linkedom';
import { anyUnit } from '../../../platform/testing/any-unit.ts';
import type { ServerToolPart } from '../../../inference/inference-request.ts';
import { encodeSearchEntry } from './encode-search-entry.ts';

const search = (input: readonly string[], urls: readonly string[] = []): ServerToolPart => ({
  kind: 'server-tool',
  tool: 'web-search',
  id: 's',
  input,
  results: urls.map((url) => ({ url })),
  wire: [],
});

const entryOf = (...searches: readonly ServerToolPart[]): { readonly html: string; readonly pairs: unknown } => {
  const { renderedContent, sdkBlob } = encodeSearchEntry(searches) as { renderedContent: string; sdkBlob: string };
  return { html: renderedContent, pairs: JSON.parse(Buffer.from(sdkBlob, 'base64').toString()) };
};

test('each query has a chip that links to a result, and the data lists every page', () => {
  const { html, pairs } = entryOf(search(['weather bern'], ['https://a.example/x?y=1&z=2', 'https://b.example/']), search(['nothing']));
  const { document } = parseHTML(html);
  assert.deepEqual(
    [...document.querySelectorAll('a')].map((link) => [link.textContent, link.getAttribute('href'), link.getAttribute('rel')]),
    [['weather bern', 'https://a.example/x?y=1&z=2', 'noopener noreferrer nofollow']],
  );
  assert.equal(document.querySelector('span')?.textContent, 'nothing');
  assert.deepEqual(pairs, [
    ['weather bern', 'https://a.example/x?y=1&z=2'],
    ['weather bern', 'https://b.example/'],
    ['nothing', ''],
  ]);
  assert.equal(encodeSearchEntry([]), undefined);
  assert.equal(encodeSearchEntry([search([])]), undefined);
});

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</div></a><iframe srcdoc="x">',
  '<!--',
  '`${alert(1)}`',
  '\u0000<\u0007svg/onload=alert(1)>',
  '&lt;script&gt;',
  '\ud800',
];

test('no part of a query or an address is markup, and no address is a script', () => {
  const urls = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' data:text/html,<script>',
    'vbscript:x',
    'https://a/"><script>x',
    "https://a/'onclick='x",
  ];
  const words = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: anyUnit, maxLength: 12 }));
  const address = fc.oneof(fc.constantFrom(...urls), fc.webUrl(), fc.string({ unit: anyUnit, maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 3 }), fc.array(address, { maxLength: 3 }), (queries, found) => {
      const { html } = entryOf(search(queries, found));
      const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
      for (const element of document.body.querySelectorAll('*')) {
        assert.ok(['DIV', 'A', 'SPAN'].includes(element.tagName), element.tagName);
        for (const { name } of element.attributes) assert.ok(['class', 'style', 'href', 'target', 'rel'].includes(name), name);
        if (element.tagName === 'A') assert.match(element.getAttribute('href') ?? '', /^https?:\/\//);
      }
      assert.doesNotMatch(html, /<(?!\/?(?:div|a|span)[ >])/);
    }),
  );
});

test('a model that searches endlessly makes no endless page', () => {
  const { html, pairs } = entryOf(search(Array.from({ length: 5000 }, (_, index) => `query ${index}`)));
  assert.ok(html.length < 32_000);
  assert.ok((pairs as readonly unknown[]).length <= 64);
});
