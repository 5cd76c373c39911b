import { conversationObjectSuite } from './conversations/conversation-object-suite.ts';
import { responseSuite } from './conversations/response-suite.ts';
import { deletionSuite } from './conversations/deletion-suite.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';

/** The behaviour of every engine for stored responses and conversations. */
export function conversationSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  for (const suite of [responseSuite, deletionSuite, conversationObjectSuite]) suite(() => engine().store());
}
