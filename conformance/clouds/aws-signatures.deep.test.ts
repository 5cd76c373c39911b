import { test } from 'node:test';

import { compareSignatures } from '../../src/upstreams/credentials/aws/testing/compare-signatures.ts';

test('the signatures of 10,000 generated requests are those of aws4fetch', () => compareSignatures(10_000));
