import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually } from './http.ts';
import { skipPostgres } from './start-postgres.ts';

test('a server ends, and its folder is removed, if the process that started it is killed', { skip: skipPostgres }, async () => {
  const starts = `const { startPostgres } = await import(${JSON.stringify(new URL('start-postgres.ts', import.meta.url).href)});
    console.log((await startPostgres()).url());`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', starts], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const folder = new URL(url.trim()).searchParams.get('host') ?? '';
  const pid = Number.parseInt(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8'), 10);
  assert.ok(existsSync(`/proc/${pid}`));
  child.kill('SIGKILL');
  await eventually(
    () => Promise.resolve([existsSync(`/proc/${pid}`), existsSync(folder)]),
    (present) => !present.includes(true),
  );
});
