import { describe } from 'node:test';

import { idempotencyRules } from './idempotency-suite.ts';
import { createFakeIdempotencyStore } from '../../src/billing/idempotency/testing/fake-idempotency-store.ts';
import { conversationObjectSuite } from './conversations/conversation-object-suite.ts';
import { responseSuite } from './conversations/response-suite.ts';
import { deletionSuite } from './conversations/deletion-suite.ts';
import { createFakeConversationStore } from '../../src/conversations/testing/fake-conversation-store.ts';

const store = createFakeConversationStore();
for (const suite of [responseSuite, deletionSuite, conversationObjectSuite]) suite(() => store);

describe('idempotency keys in memory', () => {
  const keys = createFakeIdempotencyStore();
  idempotencyRules(() => keys);
});
