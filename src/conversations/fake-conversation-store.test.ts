import { conversationObjectSuite } from './conversation-object-suite.ts';
import { responseSuite } from './conversation-suite.ts';
import { deletionSuite } from './deletion-suite.ts';
import { createFakeConversationStore } from './fake-conversation-store.ts';

const store = createFakeConversationStore();
for (const suite of [responseSuite, deletionSuite, conversationObjectSuite]) suite(() => store);
