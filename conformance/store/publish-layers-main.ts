import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';

/** Publishes layers into a database until it is killed. Prints a line after each one. */
const [path = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path });
for (let number = 1; ; number += 1) {
  const document = JSON.stringify({ models: { [`m${number}`]: { targets: [{ upstream: 'x'.repeat(2000) }] } } });
  const layer = { number, publishedAtMs: number, actor: 'person:ann', document, secrets: '{}', seal: `seal-${number}` };
  await store.insertConfigLayer(layer, { actor: 'person:ann', via: 'api', atMs: number });
  process.stdout.write(`${number}\n`);
}
