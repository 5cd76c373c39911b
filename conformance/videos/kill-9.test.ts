import { describe, test } from 'node:test';

import { killEverywhere } from './kill-9.ts';
import { killOneOfTwo } from './two-workers.ts';

// Both wait for the lease of a dead process for most of their time, so they wait together.
describe('M12, F44, F48: processes that look after videos are killed', { concurrency: true }, () => {
  test('while submitting, polling, copying and before settling: every accepted video ends once', killEverywhere);
  test('one of two workers while it copies: nothing is charged or told twice, and the other goes on', killOneOfTwo);
});
