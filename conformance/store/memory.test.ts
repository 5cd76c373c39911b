import { conversationObjectSuite } from './conversations/conversation-object-suite.ts';
import { responseSuite } from './conversations/response-suite.ts';
import { deletionSuite } from './conversations/deletion-suite.ts';
import { createFakeConversationStore } from '../../src/conversations/fake-conversation-store.ts';

const store = createFakeConversationStore();
for (const suite of [responseSuite, deletionSuite, conversationObjectSuite]) suite(() => store);
