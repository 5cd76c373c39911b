import { test } from 'node:test';

import { killOneOfTwo } from './two-workers.ts';

test(
  'M12, F44, F48: one of two workers is killed while it copies videos: nothing is charged or reported twice, and the other continues',
  killOneOfTwo,
);
