import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { isLong } from '../support/scale.ts';
import { assertNextRunWorks, type Bench, type Host, openBench, openHost } from './sandbox-kit.ts';

const limits = { timeoutMs: 3000, memoryMb: 96, outputBytesMax: 8000 } as const;
const patientMs = 60_000;
/** For the run after an attempt: one attempt leaves an interpreter that hangs in it. */
const nextMs = 12_000;

/** `survives` if the interpreter still works afterwards, `times out` if it is killed because of the time it took. */
type Attempt = { readonly name: string; readonly code: string; readonly ends: 'survives' | 'times out' | 'anyhow'; readonly says?: RegExp };

const attempts: readonly Attempt[] = [
  { name: 'an endless loop', code: 'while True: pass', ends: 'times out' },
  {
    name: 'an endless loop that swallows every exception',
    code: 'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
    ends: 'times out',
  },
  { name: 'a sleep without end', code: 'import time\ntime.sleep(10**6)', ends: 'times out' },
  { name: 'an await without end', code: 'import asyncio\nawait asyncio.Event().wait()', ends: 'times out' },
  { name: 'a regular expression with exponential backtracking', code: 'import re\nre.match(r"(a+)+$", "a" * 40 + "b")', ends: 'times out' },
  { name: 'a number too large to compute', code: '10 ** 10 ** 9', ends: 'anyhow' },
  { name: 'all memory at once', code: 'bytearray(10**10)', ends: 'survives', says: /MemoryError|OverflowError/ },
  {
    name: 'memory in small steps',
    code: 'def fill():\n  a = []\n  while True: a.append(bytearray(5_000_000))\nfill()',
    ends: 'survives',
    says: /MemoryError/,
  },
  { name: 'memory by small objects', code: 'a = []\nwhile True: a.append([[] for _ in range(1000)])', ends: 'anyhow' },
  {
    name: 'memory of JavaScript',
    code: 'from pyodide.ffi import to_js\na = []\nwhile True: a.append(to_js(list(range(10000))))',
    ends: 'anyhow',
  },
  { name: 'a file that fills memory', code: 'with open("/tmp/x", "wb") as f:\n  while True: f.write(bytes(5_000_000))', ends: 'anyhow' },
  { name: 'deep recursion', code: 'def f(): return f()\nf()', ends: 'survives', says: /RecursionError/ },
  { name: 'recursion without its guard', code: 'import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()', ends: 'anyhow' },
  { name: 'deeply nested code', code: 'eval("(" * 100000 + ")" * 100000)', ends: 'anyhow' },
  { name: 'a deep pickle', code: 'import pickle\npickle.loads(b"(" * 1_000_000 + b".")', ends: 'anyhow' },
  { name: 'a bomb of nested lists', code: 'a = []\nfor _ in range(10**6): a = [a]\nrepr(a)', ends: 'anyhow' },
  { name: 'output without end', code: 'while True: print("x" * 100)', ends: 'times out', says: /the output exceeded the limit/ },
  { name: 'one huge line', code: 'print("x" * 5_000_000)', ends: 'survives', says: /the output exceeded the limit/ },
  { name: 'a huge result', code: '"x" * 2_000_000', ends: 'survives', says: /^result:\n'x/ },
  { name: 'a huge exception', code: 'raise ValueError("x" * 2_000_000)', ends: 'survives', says: /ValueError/ },
  {
    name: 'bytes that are not text',
    code: 'import sys\nsys.stdout.buffer.write(bytes(range(128, 256)) * 20)\nsys.stdout.flush()',
    ends: 'survives',
    says: /stdout/,
  },
  { name: 'lone surrogates', code: 'print("\\ud800x")\n"\\udc00y"', ends: 'survives', says: /ud800x/ },
  { name: 'an exit', code: 'import sys\nsys.exit(3)', ends: 'survives', says: /SystemExit: 3/ },
  { name: 'an exit with success', code: 'import sys\nprint(1)\nsys.exit()', ends: 'survives', says: /^stdout:\n1/ },
  { name: 'an exit past Python', code: 'import os\nos._exit(4)', ends: 'survives', says: /SystemExit: 4/ },
  { name: 'an abort', code: 'import os\nos.abort()', ends: 'survives', says: /aborted/ },
  { name: 'an exit of the process below os', code: 'import posix\nposix._exit(0)', ends: 'anyhow' },
  { name: 'an abort below os', code: 'import posix\nposix.abort()', ends: 'anyhow' },
  { name: 'a null pointer', code: 'import ctypes\nctypes.string_at(2**31)', ends: 'anyhow' },
  { name: 'standard streams closed', code: 'import os\nfor fd in range(64):\n  try: os.close(fd)\n  except OSError: pass', ends: 'anyhow' },
  {
    name: 'standard streams removed',
    code: 'import sys\nsys.stdout = sys.stderr = None\nprint(1)\nsys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__',
    ends: 'survives',
  },
  {
    name: 'tasks that continue after the end',
    code: 'import asyncio\nasync def f():\n  while True:\n    print("late")\n    await asyncio.sleep(0.01)\nt = asyncio.ensure_future(f())\n"returned"',
    ends: 'survives',
    says: /result:\n'returned'/,
  },
  {
    name: 'output that looks like the protocol',
    code: 'print(\'{"kind":"ended","run":1,"outcome":"finished","text":"forged","dropped":0}\')\nprint("after")',
    ends: 'survives',
    says: /stdout:\n\{"kind":"ended".*\nafter/,
  },
  {
    name: 'the channel written to as a file descriptor',
    code: 'import os\nline = b\'\\n{"kind":"ended","run":2,"outcome":"finished","text":"forged","dropped":0}\\n\'\nfor fd in (1, 2): os.write(fd, line)\nfor fd in range(3, 9):\n  try: os.write(fd, line); print("wrote", fd)\n  except OSError: pass',
    ends: 'survives',
    says: /^stdout:\n\n\{"kind"(?![^]*wrote)/,
  },
  {
    name: 'poisoned prototypes of the glue',
    code: 'from pyodide.ffi import to_js, create_proxy\narray = to_js([1])\npoison = create_proxy(lambda *a: 1)\nfor name in ("at", "join", "push", "map"): setattr(array.constructor.prototype, name, poison)\nprint("poisoned")',
    ends: 'anyhow',
  },
  {
    name: 'overwritten builtins of the runner',
    code: 'import builtins\nbuiltins.repr = lambda x: "forged"\nbuiltins.str = builtins.len = None\n5',
    ends: 'anyhow',
    says: /^(?!.*forged)/s,
  },
  {
    name: 'a changed frame of the runner',
    code: 'import sys\nframe = sys._getframe()\nwhile frame:\n  frame.f_locals.clear() if hasattr(frame.f_locals, "clear") and frame.f_back is None else None\n  frame = frame.f_back',
    ends: 'anyhow',
  },
  {
    name: 'exceptions that cannot be described',
    code: 'class E(Exception):\n  def __str__(self): raise SystemExit(1)\n  __repr__ = __str__\nraise E()',
    ends: 'anyhow',
  },
  { name: 'a value that cannot be described', code: 'class V:\n  def __repr__(self):\n    while True: pass\nV()', ends: 'times out' },
];

describe('attempts to exhaust, break or deceive the runner', { timeout: 600_000 }, () => {
  let host: Host;
  let impatient: Bench;
  let patient: Bench;
  before(async () => {
    host = await openHost();
    impatient = await openBench(limits, 2);
    // An attempt that must survive gets all the time that a busy machine may need; it needs little itself.
    patient = await openBench({ ...limits, timeoutMs: patientMs }, 0);
    impatient.allow(patientMs);
    await Promise.all([impatient.run('1'), patient.run('1')]);
  });
  after(async () => {
    await Promise.all([impatient.close(), patient.close()]);
    await host.close();
  });
  test('an interpreter that reports a fault of its own is not used again', async () => {
    await patient.run('kept = 1');
    const fault = await patient.run('raise SystemError("error return without exception set")');
    assert.match(fault.answer, /SystemError/);
    const next = await patient.run('print("kept" in globals())');
    assert.match(next.answer, /False[^]*started a new interpreter/);
    await assertNextRunWorks(patient);
  });
  // Of those that may end anyhow, which take a new interpreter each, every second one.
  for (const { name, code, ends, says } of attempts.filter((one, at) => isLong || one.ends !== 'anyhow' || at % 2 === 0)) {
    test(name, async () => {
      const bench = ends === 'survives' ? patient : impatient;
      impatient.allow(limits.timeoutMs);
      const outcome = await bench.run(code);
      // The next run must work, also if it takes long.
      impatient.allow(nextMs);
      assert.ok(Buffer.byteLength(outcome.answer) < limits.outputBytesMax + 1000, 'the answer is bounded');
      if (ends === 'times out') assert.equal(outcome.shown.failure, 'timed-out', outcome.answer.slice(0, 300));
      if (ends === 'survives') assert.equal(outcome.shown.failure, undefined, outcome.answer.slice(0, 300));
      if (says !== undefined) assert.match(outcome.answer, says);
      assert.deepEqual(outcome.usage, { codeExecutions: 1 });
      await host.assertUntouched();
      const lost = outcome.shown.failure !== undefined;
      const next = await bench.run('print(6 * 7)');
      // Code that broke its own interpreter may have one more run to report it; then there is a new interpreter.
      if (ends === 'anyhow' && !lost && !next.answer.includes('42')) await bench.run('1').then(() => assertNextRunWorks(bench));
      else assert.match(next.answer, /^stdout:\n42/);
      if (lost) assert.match(next.answer, /new interpreter/);
      assert.ok(!next.answer.includes('late') && !next.answer.includes('forged'), next.answer.slice(0, 300));
    });
  }
});
