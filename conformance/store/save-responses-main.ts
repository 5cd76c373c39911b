import { createConversations } from '../../src/conversations/create-conversations.ts';
import { createResponse } from './conversations/set-up.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';

/**
 * Saves responses and appends items, several at a time, until it is killed, and prints the number of each once it is
 * confirmed: `path`, key in hexadecimal digits.
 */
const [path = '', key = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const conversations = createConversations({ store, key: Buffer.from(key, 'hex'), clock: systemClock });
const createdAtMs = systemClock.nowMs();
await conversations.createConversation({ id: 'conv', userName: 'anna', createdAtMs, metadata: {} }, []);
const expiresAtMs = createdAtMs + 86_400_000;
for (let round = 0; ; round += 1) {
  await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const number = round * 8 + index;
      const padding = 'x'.repeat((number % 5) * 20_000);
      const previousResponseId = `r${number - 8}`;
      await conversations.saveResponse(
        createResponse(`r${number}`, { previousResponseId, expiresAtMs, createdAtMs, input: [{ id: `i${number}`, padding }] }),
      );
      await conversations.appendItems('anna', 'conv', [{ id: `c${number}`, padding }]);
      process.stdout.write(`${number}\n`);
    }),
  );
}
