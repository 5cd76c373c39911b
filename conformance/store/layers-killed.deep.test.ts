import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';

test('a publisher that is killed leaves whole layers: each has its audit row, and the signal names the newest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-killed-layers-'));
  try {
    const path = join(folder, 'weir.sqlite');
    const child = spawn(process.execPath, [fileURLToPath(new URL('./publish-layers-main.ts', import.meta.url)), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    const enough = Promise.withResolvers<void>();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.split('\n').length > 20) enough.resolve();
    });
    await Promise.race([enough.promise, once(child, 'exit')]);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const said = Number(printed.trim().split('\n').at(-1));
    assert.ok(said >= 20, printed);
    const store = await openSqliteStore({ path });
    const newest = await store.newestConfigLayer();
    // The last one may be stored without a line of the child.
    assert.ok(newest !== undefined && newest.number >= said, `${newest?.number} ${said}`);
    const { newestLayer } = await store.readControl(0);
    const rows = await store.listAudit({ action: 'config.publish', limit: 10_000 });
    assert.deepEqual([newestLayer, rows.length, rows[0]?.subject], [newest.number, newest.number, `config_layer:${newest.number}`]);
    assert.equal((await verifyAudit(store)).brokenAt, undefined);
    assert.equal((await store.listConfigLayers({ limit: 10_000 })).length, newest.number);
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
