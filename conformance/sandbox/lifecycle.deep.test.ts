import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { assertNextRunWorks, type Bench, openBench, runCode } from './sandbox-kit.ts';

/** The descendants of a process, by the kernel's record of each process's parent. */
function descendantsOf(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      parents.set(Number(name), Number(fields[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const found = [ancestor];
  for (const parent of found) for (const [pid, of] of parents) if (of === parent) found.push(pid);
  return found.slice(1);
}

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

async function waitUntil(what: string, condition: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 30_000; !condition(); await sleep(20)) {
    assert.ok(performance.now() < deadline, `waited too long until ${what}`);
  }
}

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('sandboxes and their parent process', { timeout: 600_000, skip: process.platform !== 'linux' }, () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench({ timeoutMs: 20_000 }, 0, 3, 6000);
  });
  after(() => bench.close());

  test('a gateway that is killed takes its sandboxes with it, also one in an endless loop', async () => {
    const script = fileURLToPath(new URL('./gateway-program.ts', import.meta.url));
    const gateway = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => gateway.stdout.once('data', resolve));
    const pid = gateway.pid ?? 0;
    await waitUntil('the sandboxes run', () => descendantsOf(pid).length >= 2);
    const children = descendantsOf(pid);
    gateway.kill('SIGKILL');
    await waitUntil('they are gone', () => !children.some(isRunning));
  });

  test('state lasts for a request and is not shared', async () => {
    const [one, other] = [await bench.newTool(), await bench.newTool()];
    await runCode(one, 'secret = 41\nopen("/tmp/note", "w").write("mine")');
    assert.match((await runCode(one, 'print(secret + 1, open("/tmp/note").read())')).answer, /42 mine/);
    assert.match((await runCode(other, 'secret')).answer, /NameError/);
    assert.match((await runCode(other, 'open("/tmp/note")')).answer, /FileNotFoundError/);
    assert.match((await runCode(other, 'import builtins\nbuiltins.leak = 1\nbuiltins.leak')).answer, /result:\n1/);
    const third = await bench.newTool();
    assert.match((await runCode(third, 'leak')).answer, /NameError/);
    const values = await Promise.all([one, other, third].map((tool) => runCode(tool, 'import random\nrandom.random()')));
    assert.equal(new Set(values.map((value) => value.answer)).size, 3, 'each has random numbers of its own');
    for (const tool of [one, other, third]) tool.close?.();
  });

  test('beyond the limit a request waits for a free sandbox, and is refused if none becomes free', async () => {
    const taken = await Promise.all(Array.from({ length: 3 }, () => bench.newTool()));
    await Promise.all(taken.map((tool) => runCode(tool, '1')));
    const other = await bench.newTool();
    const refused = await runCode(other, '1');
    assert.equal(refused.shown.failure, 'unavailable');
    assert.deepEqual(refused.usage, {});
    const waiting = runCode(other, 'print("at last")');
    taken[0]?.close?.();
    assert.match((await waiting).answer, /at last/);
    for (const tool of [...taken, other]) tool.close?.();
  });

  test('a call that is over stops its run at once', async () => {
    await bench.run('1');
    const controller = new AbortController();
    const running = bench.run('while True: pass', controller.signal);
    setTimeout(() => controller.abort(), 200);
    const started = performance.now();
    assert.equal((await running).shown.failed, true);
    assert.ok(performance.now() - started < 10_000);
    await assertNextRunWorks(bench);
  });

  test('every started process ends: no process and no descriptor remains', async () => {
    const descriptors = openDescriptors();
    const processes = descendantsOf(process.pid);
    for (let round = 0; round < 4; round += 1) {
      const tool = await bench.newTool();
      await runCode(tool, '1');
      // Every other one is closed in the middle of a run.
      const running = round % 2 === 0 ? undefined : runCode(tool, 'while True: pass');
      tool.close?.();
      if (running !== undefined) assert.equal((await running).shown.failed, true);
    }
    await waitUntil('all processes are gone', () => descendantsOf(process.pid).every((pid) => processes.includes(pid)));
    await waitUntil('all descriptors are closed', () => openDescriptors() <= descriptors);
  });

  test('arguments that are not code are refused without a run', async () => {
    const tool = await bench.newTool();
    const signal = new AbortController().signal;
    for (const args of [{}, { code: '' }, { code: 5 }, { code: ['x'] }, { code: 'x'.repeat(300_000) }]) {
      const outcome = await tool.run({ callId: 'c', arguments: args, firstSource: 1, knowsAddress: () => false, signal });
      assert.equal(outcome.shown.failure, 'invalid-input');
      assert.deepEqual(outcome.usage, {});
      assert.equal(tool.readInput(args).length, 1);
    }
  });
});
