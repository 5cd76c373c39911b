import { join } from 'node:path';
import { openFixtures, testFixtures } from '../testing/fixture-suite.ts';
import { anthropicMessages } from './anthropic-messages.ts';

testFixtures({
  dialect: anthropicMessages,
  fixtures: openFixtures(join(import.meta.dirname, 'fixtures')),
  headers: { 'anthropic-version': '2023-06-01' },
  findEnd: (body) => (body.includes('event: message_stop') ? body.lastIndexOf('event: message_stop') : undefined),
});
