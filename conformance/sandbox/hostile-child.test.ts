import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Sandbox } from '../../src/tools/code-execution/sandbox.ts';
import type { RunReport } from '../../src/tools/code-execution/run-report.ts';
import { usualLimits } from './sandbox-kit.ts';

/**
 * A child that should answer gets all the time that a busy machine may need; the wait for one that never does is short.
 */
const patientMs = 30_000;
const impatientMs = 700;
const limits = { ...usualLimits, timeoutMs: patientMs, outputBytesMax: 2000 };
const send = 'const send = (m) => process.stdout.write(JSON.stringify(m) + "\\n"); send({ kind: "ready" });';

/** A sandbox whose process is controlled by an attacker: it runs this JavaScript instead of Python, without seals. */
async function runHostile(program: string, timeoutMs: number): Promise<{ readonly report: RunReport; readonly sandbox: Sandbox }> {
  const command = { program: process.execPath, args: ['-e', `${send}\n${program}`] };
  const sandbox = new Sandbox({ command, limits: { ...limits, timeoutMs }, snapshot: undefined });
  await sandbox.ready;
  const report = await sandbox.run('print(1)', new AbortController().signal);
  return { report, sandbox };
}

const cases: readonly { readonly name: string; readonly program: string; readonly ending: RunReport['ending']; readonly says?: RegExp }[] =
  [
    { name: 'never answers', program: 'setInterval(() => {}, 1000)', ending: 'timed-out' },
    { name: 'answers no JSON', program: 'process.stdin.once("data", () => console.log("hello"))', ending: 'died' },
    { name: 'answers JSON that is not a message', program: 'process.stdin.once("data", () => send([{ kind: "ended" }]))', ending: 'died' },
    {
      name: 'answers with values of other kinds',
      program: 'process.stdin.once("data", () => send({ kind: "ended", run: "1", outcome: {}, text: 5, dropped: -1 }))',
      ending: 'died',
    },
    {
      name: 'answers for another run',
      program:
        'process.stdin.once("data", () => send({ kind: "ended", run: 2, outcome: "finished", text: "", dropped: 0, broken: false }))',
      ending: 'timed-out',
    },
    {
      name: 'floods with messages',
      // By the descriptor: a stream would buffer unsent data in the attacker's own memory.
      program:
        'const line = JSON.stringify({ kind: "output", run: 1, stream: "stdout", text: "x".repeat(1000) }) + "\\n"; process.stdin.once("data", () => { for (;;) try { require("fs").writeSync(1, line) } catch {} })',
      ending: 'died',
    },
    {
      name: 'sends a line without end',
      program: 'process.stdin.once("data", () => { for (;;) try { require("fs").writeSync(1, "x".repeat(10000)) } catch {} })',
      ending: 'died',
    },
    {
      name: 'floods before its first job, and between runs',
      program: 'setInterval(() => process.stdout.write("\\n".repeat(1000)), 1)',
      ending: 'died',
    },
    {
      name: 'sends more output than permitted and ends',
      program:
        'process.stdin.once("data", () => { send({ kind: "output", run: 1, stream: "stdout", text: "é".repeat(5000) }); send({ kind: "ended", run: 1, outcome: "finished", text: "r", dropped: 0, broken: false }) })',
      ending: 'finished',
    },
    {
      name: 'ends twice',
      program:
        'process.stdin.once("data", () => { for (const text of ["a", "b"]) send({ kind: "ended", run: 1, outcome: "finished", text, dropped: 0, broken: false }) })',
      ending: 'finished',
      says: /^a$/,
    },
    {
      name: 'names members of prototypes',
      program:
        'process.stdin.once("data", () => process.stdout.write(\'{"__proto__":{"polluted":1},"kind":"ended","run":1,"outcome":"finished","text":"x","dropped":0,"broken":false}\\n\'))',
      ending: 'finished',
    },
    {
      name: 'sends lone surrogates and broken bytes',
      program:
        'process.stdin.once("data", () => { process.stdout.write(Buffer.from(\'{"kind":"ended","run":1,"outcome":"finished","text":"\\\\ud800 \', "utf8")); process.stdout.write(Buffer.from([0xff, 0xfe])); process.stdout.write(\'","dropped":0,"broken":false}\\n\') })',
      ending: 'finished',
      says: /^\uFFFD \uFFFD\uFFFD$/,
    },
    {
      name: 'closes its output',
      program: 'process.stdin.once("data", () => { require("fs").closeSync(1); setInterval(() => {}, 1000) })',
      ending: 'timed-out',
    },
    { name: 'exits with success', program: 'process.stdin.once("data", () => process.exit(0))', ending: 'died' },
    { name: 'is killed', program: 'process.stdin.once("data", () => process.kill(process.pid, "SIGKILL"))', ending: 'died' },
  ];

describe('a sandbox whose process an attacker controls', { timeout: 600_000 }, () => {
  for (const { name, program, ending, says } of cases) {
    test(name, async () => {
      const { report, sandbox } = await runHostile(program, ending === 'timed-out' ? impatientMs : patientMs);
      assert.equal(report.ending, ending);
      if (says !== undefined) assert.match(report.text, says);
      assert.ok(Buffer.byteLength(report.stdout + report.stderr + report.text) <= limits.outputBytesMax);
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      sandbox.close();
      await sandbox.ended;
      const after = await sandbox.run('print(2)', new AbortController().signal);
      assert.equal(after.ending, 'died');
    });
  }

  test('does not read its input', async () => {
    const sandbox = new Sandbox({
      command: { program: process.execPath, args: ['-e', `${send} for (;;);`] },
      limits: { ...limits, timeoutMs: impatientMs },
      snapshot: undefined,
    });
    await sandbox.ready;
    const report = await sandbox.run('x'.repeat(200_000), new AbortController().signal);
    assert.equal(report.ending, 'timed-out');
    await sandbox.ended;
  });

  test('does not start', async () => {
    const sandbox = new Sandbox({ command: { program: '/nonexistent/program', args: [] }, limits, snapshot: undefined });
    await assert.rejects(sandbox.ready);
    await sandbox.ended;
  });
});
