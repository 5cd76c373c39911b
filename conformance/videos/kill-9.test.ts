import { test } from 'node:test';

import { killEverywhere } from './kill-9.ts';

test('M12, F44, F48: killed while submitting, polling, copying and before settling: every accepted video ends once', killEverywhere);
