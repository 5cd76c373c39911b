import { createHash } from 'node:crypto';

import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { createEntry } from './call-entries.ts';

/** Appends entries whose rows are on many pages of a database: `path` and the number of batches of 400. */
const [path = '', batches = '0'] = process.argv.slice(2);
const store = await openSqliteStore({ path });
for (let batch = 0; batch < Number(batches); batch += 1) {
  await store.appendEntries(
    Array.from({ length: 400 }, (_, index) => {
      const name = createHash('md5').update(`${batch}-${index}`).digest('hex');
      return { ...createEntry(name), userName: `user-${name.slice(0, 2)}`, keyId: `key-${name.slice(0, 3)}` };
    }),
  );
}
await store.close();
