import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createFileOnce } from './create-file-once.ts';

function temporary(context: { readonly after: (clean: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-once-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a file is created with its content, for its owner only, and nothing else remains', (context) => {
  const folder = temporary(context);
  assert.equal(createFileOnce(join(folder, 'id'), 'one\n'), true);
  assert.equal(readFileSync(join(folder, 'id'), 'utf8'), 'one\n');
  assert.equal(statSync(join(folder, 'id')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['id']);
});

test('an existing file keeps its content, even if it is empty', (context) => {
  const folder = temporary(context);
  writeFileSync(join(folder, 'id'), '');
  assert.equal(createFileOnce(join(folder, 'id'), 'two\n'), false);
  assert.equal(readFileSync(join(folder, 'id'), 'utf8'), '');
  assert.deepEqual(readdirSync(folder), ['id']);
});

test('processes that create and read at the same moment all read the whole content of one of them', async (context) => {
  const folder = temporary(context);
  const program = `
    import { readFileSync } from 'node:fs';
    import { createFileOnce } from ${JSON.stringify(new URL('./create-file-once.ts', import.meta.url).href)};
    const seen = Array.from({ length: 60 }, (_, at) => {
      const path = ${JSON.stringify(folder)} + '/' + at;
      createFileOnce(path, process.pid + '.'.repeat(4000));
      return readFileSync(path, 'utf8');
    });
    console.log(JSON.stringify(seen));`;
  const outputs = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
      await once(child, 'close');
      return JSON.parse(printed) as readonly string[];
    }),
  );
  assert.deepEqual(outputs[1], outputs[0]);
  assert.deepEqual(outputs[2], outputs[0]);
  assert.ok(outputs[0]?.every((text) => /^\d+\.{4000}$/.test(text)));
});
