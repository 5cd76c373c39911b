import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { createEntry } from './call-entries.ts';

/**
 * Appends entries to a database as one of several processes: `path`, its name, and the number of batches of ten; every
 * other batch a second time, as after a crash.
 */
const [path = '', name = '', batches = '0'] = process.argv.slice(2);
const store = await openSqliteStore({ path });
let added = 0;
for (let batch = 0; batch < Number(batches); batch += 1) {
  const entries = Array.from({ length: 10 }, (_, index) => createEntry(`${name}-${batch}-${index}`));
  added += await store.appendEntries(entries);
  if (batch % 2 === 0) added += await store.appendEntries(entries);
}
await store.close();
process.stdout.write(`${added}\n`);
