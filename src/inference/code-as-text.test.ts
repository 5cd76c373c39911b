import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codeAsText } from './code-as-text.ts';
import type { ServerToolPart } from './inference-request.ts';

const run: ServerToolPart = {
  kind: 'server-tool',
  tool: 'code-execution',
  id: 'c',
  input: ['print(40 + 2)'],
  results: [{ text: '42\n' }],
  wire: [],
};

test('code and its output become text that a model can read', () => {
  assert.equal(codeAsText(run)?.text, '[Code that was run]\n```\nprint(40 + 2)\n```\n[Its output]\n```\n42\n```');
});

test('failed code is marked as failed, and code without output gets none', () => {
  assert.equal(
    codeAsText({ ...run, results: [{ text: '' }], failed: true })?.text,
    '[Code that was run]\n```\nprint(40 + 2)\n```\n[It failed.]',
  );
});

test('a very long output is cut', () => {
  const text = codeAsText({ ...run, results: [{ text: 'x'.repeat(1_000_000) }] });
  assert.ok((text?.text.length ?? 0) < 21_000);
});

test('other tools and empty runs are nothing', () => {
  assert.equal(codeAsText({ ...run, tool: 'web-search' }), undefined);
  assert.equal(codeAsText({ ...run, input: [], results: [] }), undefined);
});
