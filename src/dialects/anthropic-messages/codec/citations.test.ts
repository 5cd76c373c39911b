import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeCitation, decodeCitations, encodeCitation } from './citations.ts';

const document = { cited_text: 'c', document_index: 2, document_title: 'D', file_id: null };

for (const [wire, locator] of [
  [{ type: 'char_location', ...document, start_char_index: 5, end_char_index: 9 }, 'characters 5-9'],
  [{ type: 'page_location', ...document, start_page_number: 3, end_page_number: 4 }, 'page 3'],
  [{ type: 'page_location', ...document, start_page_number: 3, end_page_number: 6 }, 'pages 3-5'],
  [{ type: 'content_block_location', ...document, start_block_index: 0, end_block_index: 2 }, 'blocks 0-2'],
] as const) {
  test(`a citation of ${locator} is the same after both translations`, () => {
    const citation = { citedText: 'c', title: 'D', source: { kind: 'document', index: 2, locator } } as const;
    assert.deepEqual(decodeCitation(wire), citation);
    assert.deepEqual(encodeCitation(citation), wire);
  });
}

test('a web citation has no index of the vendor, because it is neither carried nor invented', () => {
  const wire = { type: 'web_search_result_location', cited_text: 'c', encrypted_index: 'E', title: 'T', url: 'https://a.example/' };
  const citation = { citedText: 'c', title: 'T', source: { kind: 'url', url: 'https://a.example/' } } as const;
  assert.deepEqual(decodeCitation(wire), citation);
  assert.deepEqual(encodeCitation(citation), { ...wire, encrypted_index: '' });
  const { title: _title, ...untitled } = citation;
  assert.equal(encodeCitation(untitled).title, 'https://a.example/');
});

test('a search result of the caller has an address only if its source is one', () => {
  const wire = { type: 'search_result_location', search_result_index: 1, start_block_index: 0, end_block_index: 1, title: 'T' };
  assert.deepEqual(decodeCitation({ ...wire, source: 'https://a.example/' })?.source, { kind: 'url', url: 'https://a.example/' });
  assert.deepEqual(decodeCitation({ ...wire, source: 'shelf 4' })?.source, { kind: 'document', index: 1, locator: 'blocks 0-1' });
});

test('documents without a known position and invalid citations are handled', () => {
  assert.deepEqual(encodeCitation({ source: { kind: 'document', fileId: 'file_1' } }), {
    type: 'char_location',
    cited_text: '',
    document_index: 0,
    document_title: null,
    file_id: 'file_1',
    start_char_index: 0,
    end_char_index: 0,
  });
  assert.deepEqual(decodeCitations([null, 1, {}, { type: 'web_search_result_location' }]), []);
  assert.deepEqual(decodeCitations(undefined), []);
});
