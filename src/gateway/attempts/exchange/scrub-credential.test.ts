import assert from 'node:assert/strict';
import { test } from 'node:test';

import { scrubBytes, scrubText } from './pass-headers.ts';

const id = '6c4c3b6c-8f0e-4a52-9f3e-0123456789ab';

test('an error of a vendor shows no id of the account that all callers share', () => {
  for (const [said, shown] of [
    [
      'Rate limit reached for gpt-4.1 in organization org-AbC123xyz0 on tokens per min (TPM): Limit 1, Used 1.',
      'Rate limit reached for gpt-4.1 in organization org-[redacted] on tokens per min (TPM): Limit 1, Used 1.',
    ],
    ['Project `proj_9aBcDeFgHiJ` does not have access to model `o3`', 'Project `proj_[redacted]` does not have access to model `o3`'],
    [
      `your organization's rate limit of 40,000 input tokens (org: ${id}, model: m)`,
      "your organization's rate limit of 40,000 input tokens (org: [redacted], model: m)",
    ],
    [`Your team ${id} has used all its credits`, 'Your team [redacted] has used all its credits'],
    ["Quota exceeded for consumer 'project_number:123456789012'", "Quota exceeded for consumer 'project_number:[redacted]'"],
    ['https://console.cloud.google.com/apis?x=projects/123456789012', 'https://console.cloud.google.com/apis?x=projects/[redacted]'],
  ] as const) {
    assert.equal(scrubText(said, undefined), shown);
    assert.equal(scrubBytes(Buffer.from(said), undefined).toString(), shown);
  }
});

test('similar words stay, and bytes without an id stay the same buffer', () => {
  const said = `teamwork of org-wide projects/7; request ${id}; organization chart ü`;
  assert.equal(scrubText(said, undefined), said);
  const bytes = Buffer.from(said);
  assert.equal(scrubBytes(bytes, 'sk-operator-secret'), bytes);
});

test('a quoted key is hidden, also in bytes', () => {
  assert.equal(scrubText('bad key sk-operator-secret', 'sk-operator-secret'), 'bad key [redacted]');
  assert.equal(scrubBytes(Buffer.from('bad key sk-operator-secret'), 'sk-operator-secret').toString(), 'bad key [redacted]');
});
