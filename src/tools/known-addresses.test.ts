import assert from 'node:assert/strict';
import { test } from 'node:test';

import { threadMs } from '../platform/thread-ms.ts';
import { KnownAddresses } from './known-addresses.ts';

const knowing = (text: string): KnownAddresses => {
  const addresses = new KnownAddresses();
  addresses.addText(text);
  return addresses;
};

const spellings: readonly (readonly [text: string, address: string])[] = [
  ['Read https://example.org/a.', 'https://example.org/a'],
  ['Read (https://example.org/a), please', 'https://example.org/a'],
  ['[tides](https://example.org/a).Next', 'https://example.org/a'],
  ['https://en.example.org/wiki/Tide_(sea)', 'https://en.example.org/wiki/Tide_(sea)'],
  ['{"url":"https://example.org/a?b=1&c=2"}', 'https://example.org/a?b=1&c=2'],
  ['<https://example.org/>', 'https://example.org'],
  ['See example.org/a for it', 'https://example.org/a'],
  ['What says example.org?', 'http://example.org/'],
  ['https://EXAMPLE.org/a#part', 'http://example.org/a/'],
  ['https://example.org/größe', 'https://example.org/gr%C3%B6%C3%9Fe'],
  ['*https://example.org:8080/a*', 'https://example.org:8080/a'],
];

for (const [text, address] of spellings) {
  test(`${address} is in: ${text}`, () => assert.ok(knowing(text).has(address)));
}

const foreign: readonly (readonly [text: string, address: string])[] = [
  ['Read https://example.org/a', 'https://example.org/b'],
  ['Read https://example.org/a', 'https://example.org/a?secret=1'],
  ['Read https://example.org/a', 'https://secret.example.org/a'],
  ['Read https://example.org/a', 'https://secret:word@example.org/a'],
  ['Read https://example.org/a', 'https://example.org.evil.test/a'],
  ['Read https://example.org/a', 'https://example.org/a/secret'],
  ['Write to anna@example.org', 'https://example.org/'],
  ['file:///etc/passwd', 'file:///etc/passwd'],
  ['', 'no address'],
];

for (const [text, address] of foreign) {
  test(`${address} is not in: ${text}`, () => assert.ok(!knowing(text).has(address)));
}

test('a hostile text is read quickly', () => {
  const startedMs = threadMs();
  for (const piece of ['a.', 'a-', 'https://', '))', 'a', '.', 'www.a-b.']) knowing(piece.repeat(300_000 / piece.length));
  assert.ok(threadMs() - startedMs < 5000);
});
