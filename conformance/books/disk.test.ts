import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { auditBooks, compareStatistics } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { call, eventually } from '../support/http.ts';
import { type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { makeCall, modeOf } from './load.ts';

function mount(directory: string, options: string): boolean {
  try {
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'ignore' });
    return true;
  } catch {
    // Only the administrator may; otherwise the tests that need it are skipped with that reason.
    return false;
  }
}

function unmount(directory: string): void {
  try {
    execFileSync('/usr/bin/umount', ['-l', directory], { stdio: 'ignore' });
  } catch {
    // Never mounted.
  }
}

/** Fills a file system to the last block, and returns a function that empties it again. */
function fill(directory: string): () => void {
  const path = join(directory, 'filler');
  const file = openSync(path, 'w');
  // Another program may free some space meanwhile.
  let free = Infinity;
  for (let round = 0; round < 100 && free > 0; round += 1) {
    for (const bytes of [65_536, 4096, 512, 1]) {
      const block = Buffer.alloc(bytes);
      try {
        for (;;) writeSync(file, block);
      } catch {
        // Full for blocks of this size.
      }
    }
    free = statfsSync(directory).bfree;
  }
  closeSync(file);
  assert.equal(free, 0);
  return () => rmSync(path);
}

const base = mkdtempSync(join(tmpdir(), 'weir-disk-'));
const probe = join(base, 'probe');
mkdirSync(probe);
const canMount = mount(probe, 'size=1m');
unmount(probe);
const skip = canMount ? false : 'mounting a small file system needs rights that this user does not have';

after(() => rmSync(base, { recursive: true, force: true }));

/** Uploads a file that is larger than the free space of the database's log. */
function upload(gatewayUrl: string, apiKey: string): ReturnType<typeof call> {
  const part = (name: string, value: string): string => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${'words '.repeat(100_000)}\r\n--b--\r\n`;
  return call(`${gatewayUrl}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: part('purpose', 'assistants') + file,
  });
}

const filled: readonly [name: string, mounted: (dataDirectory: string) => string, size: string][] = [
  ['the disk of the journal', (dataDirectory) => join(dataDirectory, 'journal'), '1m'],
  ['the disk of the whole data directory', (dataDirectory) => dataDirectory, '12m'],
];

for (const [name, mounted, size] of filled) {
  test(
    `${name} is full: new calls are refused in their dialect, running calls finish and are settled, and it recovers by itself`,
    { skip },
    async () => {
      const dataDirectory = mkdtempSync(join(base, 'data-'));
      const point = mounted(dataDirectory);
      mkdirSync(point, { recursive: true, mode: 0o700 });
      assert.ok(mount(point, `size=${size},mode=0700`));
      try {
        await using simulated = await startSimulatedProgram({ weir: { dataDirectory } });
        const { weir, simulator } = simulated;
        const ask = (number: number, steer: Record<string, string> = {}) =>
          makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(number), number, steer });
        const views = [await ask(1)];
        assert.ok(views[0]?.complete);
        // They have to last longer than all checks on the full disk: the end of the last one frees space in the
        // journal.
        const running = Array.from({ length: 10 }, (_, index) => ask(10 + index, { 'output-tokens': '400', pace: 'tokensPerSecond=40' }));
        await eventually(
          () => simulator.records().filter(({ headersAtMs }) => headersAtMs !== undefined).length,
          (count) => count >= 11,
        );
        const empty = fill(point);
        // The first call that cannot write notices.
        await eventually(
          async () => (await ask(0)).status,
          (status) => status === 503,
        );
        const reached = simulator.records().length;
        for (const api of chatInterfaces) {
          const refused = await refusal(weir.gatewayUrl, weir.apiKey, api);
          assert.equal(refused.status, 503, refused.text);
          assert.ok(api.errorType(refused.json));
          assert.match(refused.json.error.message, /cannot record calls/);
          assert.doesNotMatch(refused.text, /ENOSPC|\/journal|no space/i, 'the client learns nothing about the machine');
        }
        assert.equal(simulator.records().length, reached, 'a refused call never reached the upstream');
        const refusedUpload = point === dataDirectory ? await upload(weir.gatewayUrl, weir.apiKey) : undefined;
        if (refusedUpload !== undefined) {
          assert.equal(refusedUpload.status, 503, refusedUpload.text);
          assert.equal(refusedUpload.json.error.code, 'storage_unavailable');
          assert.ok(Number(refusedUpload.headers['retry-after']) > 0);
          assert.doesNotMatch(refusedUpload.text, /ENOSPC|sqlite|disk/i, 'the client learns nothing about the machine');
        }
        const health = await call(`${weir.gatewayUrl}/health`);
        assert.equal(health.status, 503);
        assert.match(health.text, /journal/);
        assert.equal((await call(`${weir.gatewayUrl}/health/live`)).status, 200);
        const finished = await Promise.all(running);
        for (const view of finished) assert.ok(view.complete, `${view.dialect}: ${view.status} ${view.text.slice(-200)}`);
        empty();
        await eventually(
          async () => (await call(`${weir.gatewayUrl}/health`)).status,
          (status) => status === 200,
        );
        const late = await ask(500);
        assert.ok(late.complete, late.text);
        if (refusedUpload !== undefined) assert.equal((await upload(weir.gatewayUrl, weir.apiKey)).status, 200);
        const ledger = await openLedger(dataDirectory);
        const ids = [...finished, late, ...views].map(({ callId }) => callId ?? '');
        for (const id of ids) assert.equal((await ledger.row(id)).end, 'finished');
        const entries = await ledger.all();
        const known = new Set(ids);
        const truths = simulator.records().filter(({ tag }) => tag !== 'load-0');
        const audit = auditBooks({
          entries: entries.filter(({ callId }) => known.has(callId)),
          truths,
          clients: [...views, ...finished, late],
          lostTokensMax: 0,
        });
        assert.deepEqual(audit.problems, []);
        // Probe calls, which check whether the disk is full, may still be in progress.
        const differences = async () => compareStatistics(weir.monitorUrl, weir.billingToken, await ledger.all());
        await eventually(differences, ({ length }) => length === 0);
        await ledger.close();
        assert.doesNotMatch(weir.output(), /unhandled|uncaught|TypeError/i);
        assert.equal(await weir.stop('SIGTERM'), 0);
      } finally {
        unmount(point);
      }
    },
  );
}

async function refusal(gatewayUrl: string, apiKey: string, api: ChatInterface) {
  return call(`${gatewayUrl}${api.path(api.model)}`, {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...api.headers },
    body: JSON.stringify(api.body(api.model, 'Hello')),
  });
}

test('F55, F57: another process locks the database for seconds, calls continue, and their rows are written when it is unlocked', async () => {
  await using simulated = await startSimulatedProgram();
  const { weir } = simulated;
  const database = new DatabaseSync(join(weir.dataDirectory, 'weir.sqlite'));
  try {
    database.exec('begin immediate');
    const calls = [];
    // Calls whose replies are to be stored wait for the database, together and for a limited time.
    for (let number = 1; number <= 20; number++) {
      calls.push(makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(number), number }));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const views = await Promise.all(calls);
    for (const view of views) assert.ok(view.complete, `${view.status} ${view.text.slice(0, 300)}`);
    assert.equal((await call(`${weir.gatewayUrl}/health/ready`)).status, 200, 'the journal has the books meanwhile');
    database.exec('rollback');
    const ledger = await openLedger(weir.dataDirectory);
    for (const view of views) assert.equal((await ledger.row(view.callId ?? '')).end, 'finished');
    const audit = auditBooks({ entries: await ledger.all(), truths: simulated.simulator.records(), clients: views, lostTokensMax: 0 });
    await ledger.close();
    assert.deepEqual(audit.problems, []);
  } finally {
    database.close();
  }
});

describe('a data directory that cannot be used', () => {
  let place: string;
  before(() => {
    place = mkdtempSync(join(base, 'place-'));
  });

  async function failure(dataDirectory: string): Promise<string> {
    const { code, stderr } = await runCommand(['start'], { WEIR_PORT: '0', WEIR_MONITOR_PORT: '0', WEIR_DATA_DIR: dataDirectory });
    assert.equal(code, 1, stderr);
    return stderr;
  }

  test('a path under a file is named, with exit code 1 and without a stack', async () => {
    const file = join(place, 'file');
    writeFileSync(file, '');
    const message = await failure(join(file, 'data'));
    assert.ok(message.includes(join(file, 'data')), message);
    assert.match(message, /WEIR_DATA_DIR/);
    assert.doesNotMatch(message, /\n\s+at /);
  });

  test('a read-only file system is named', { skip }, async () => {
    const directory = join(place, 'read-only');
    mkdirSync(directory);
    assert.ok(mount(directory, 'size=1m,ro'));
    try {
      const message = await failure(join(directory, 'data'));
      assert.ok(message.includes(directory), message);
      assert.doesNotMatch(message, /\n\s+at /);
      const existing = await failure(directory);
      assert.ok(existing.includes(directory), existing);
      assert.doesNotMatch(existing, /\n\s+at /);
    } finally {
      unmount(directory);
    }
  });

  test('a file that is not a database is named', async () => {
    const directory = join(place, 'garbage');
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(join(directory, 'weir.sqlite'), 'this is no database, but it is long enough to be taken for one '.repeat(100));
    const message = await failure(directory);
    assert.ok(message.includes(directory), message);
    assert.doesNotMatch(message, /\n\s+at /);
  });
});
