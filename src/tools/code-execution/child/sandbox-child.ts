import { closeSync, fstatSync, readFileSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';

import { hideHost, type InterpreterFiles } from './hide-host.ts';
import { openParentChannel, type ParentChannel } from './parent-channel.ts';
import { pythonRunner } from './python-runner.ts';

/**
 * The program of a sandbox. The gateway starts it, and it treats itself as hostile from the first line of a model's
 * code. Arguments: the mode (`probe`, `snapshot`, `serve`), the interpreter's folder as a file: address ending in a
 * slash, the limit of output of a run in bytes, and the descriptor of a snapshot or `-`.
 */
const [mode, folder = '', outputBytesMax = '0', snapshotDescriptor = '-'] = globalThis.process.argv.slice(2);

/**
 * Stored before the global is removed. (An import of `node:process` would open its streams and make the channel
 * non-blocking.)
 */
const { process } = globalThis;

/** A Python callable, with the members that are used here. */
type PythonFunction = { (): unknown; readonly callPromising: (...values: unknown[]) => Promise<unknown> };

type Output = { readonly write: (bytes: Uint8Array) => number; readonly isatty: boolean };

/** The interpreter, with the members that are used here. */
type Python = {
  readonly setStdin: (options: object) => void;
  readonly setStdout: (options: Output) => void;
  readonly setStderr: (options: Output) => void;
  readonly runPython: (code: string) => unknown;
  readonly globals: { readonly get: (name: string) => PythonFunction; readonly delete: (name: string) => void };
  readonly makeMemorySnapshot: () => Uint8Array;
};

type PythonModule = { readonly loadPyodide: (options: object) => Promise<Python> };

/** Whether Node denies the process everything except reading the interpreter. */
function isSealed(): boolean {
  return ['fs.write', 'child', 'worker', 'net', 'addon', 'inspector', 'wasi', 'ffi'].every((name) => !process.permission.has(name));
}

function readInterpreter(): InterpreterFiles {
  const names = ['pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json'];
  return new Map(names.map((name) => [name, readFileSync(new URL(name, folder))]));
}

/** Reads the snapshot. Other sandboxes share the descriptor, so all reads have positions. */
function readSnapshot(): Uint8Array | undefined {
  if (snapshotDescriptor === '-') return undefined;
  const descriptor = Number(snapshotDescriptor);
  const bytes = new Uint8Array(fstatSync(descriptor).size);
  for (let at = 0; at < bytes.length;) {
    const read = readSync(descriptor, bytes, at, bytes.length - at, at);
    if (read === 0) throw new Error('The snapshot is truncated.');
    at += read;
  }
  closeSync(descriptor);
  return bytes;
}

/** Loads Python without access to the host, and drops every right that loading needed. */
async function loadPython(forSnapshot: boolean): Promise<Python> {
  const files = readInterpreter();
  const snapshot = readSnapshot();
  const finish = hideHost(folder, files);
  const { loadPyodide } = (await import(new URL('pyodide.mjs', folder).href)) as PythonModule;
  const python = await loadPyodide({
    indexURL: folder,
    jsglobals: Object.create(null) as object,
    env: { HOME: '/home/user' },
    enableRunUntilComplete: true,
    ...(forSnapshot ? { _makeSnapshot: true } : {}),
    ...(snapshot === undefined ? {} : { _loadSnapshot: snapshot }),
  });
  finish();
  process.permission.drop('fs.read');
  for (const name of Object.getOwnPropertyNames(process)) {
    if (
      /^(?:_?kill|execve|dlopen|binding|_linkedBinding|getBuiltinModule|mainModule|report|chdir|set\w*id|\w*groups|_debug\w*|abort)$/.test(
        name,
      )
    ) {
      Reflect.deleteProperty(process, name);
    }
  }
  return python;
}

/** Sends the output of code at once, up to the limit of a run. The rest is only counted. */
function openOutput(channel: ParentChannel): {
  readonly begin: (run: number) => void;
  readonly end: () => number;
  readonly attach: (python: Python) => void;
} {
  // A little more than the limit, so that the gateway notices the excess even of a run that it has to kill.
  const most = Number(outputBytesMax) + 4;
  let run = 0;
  let [left, dropped] = [0, 0];
  const writer = (stream: 'stdout' | 'stderr'): Output => {
    const decoder = new TextDecoder();
    return {
      isatty: false,
      write: (bytes) => {
        const sendable = Math.min(bytes.length, left, 65536);
        left -= sendable;
        if (sendable === 0) dropped += bytes.length;
        else channel.send({ kind: 'output', run, stream, text: decoder.decode(bytes.subarray(0, sendable), { stream: true }) });
        return sendable === 0 ? bytes.length : sendable;
      },
    };
  };
  return {
    begin: (next) => {
      [run, left, dropped] = [next, most, 0];
    },
    end: () => {
      left = 0;
      return dropped;
    },
    attach: (python) => {
      python.setStdin({ stdin: () => undefined });
      python.setStdout(writer('stdout'));
      python.setStderr(writer('stderr'));
    },
  };
}

async function serve(): Promise<void> {
  const channel = openParentChannel();
  const end = process.exit.bind(process);
  const python = await loadPython(false);
  const output = openOutput(channel);
  output.attach(python);
  python.runPython(pythonRunner);
  const [runner, isBroken] = [python.globals.get('_run'), python.globals.get('_is_broken')];
  for (const name of ['_run', '_is_broken']) python.globals.delete(name);
  const execute = async (run: number, code: string): Promise<void> => {
    output.begin(run);
    const answer = String(await runner.callPromising(code, Number(outputBytesMax)));
    const cut = answer.indexOf('\n');
    // Code that closed its output, or used up memory at a bad moment, has broken this interpreter for later runs.
    const broken = isBroken() === true;
    channel.send({ kind: 'ended', run, outcome: answer.slice(0, cut), text: answer.slice(cut + 1), dropped: output.end(), broken });
    if (broken) end(71);
  };
  let last = Promise.resolve();
  channel.receive(
    (order) => {
      // An error that passes through Python ends the interpreter.
      last = last.then(() => execute(order.run, order.code)).catch(() => end(70));
    },
    () => end(0),
  );
  channel.send({ kind: 'ready' });
}

async function snapshot(): Promise<void> {
  const { writeSync } = await import('node:fs');
  const python = await loadPython(true);
  const bytes = python.makeMemorySnapshot();
  for (let sent = 0; sent < bytes.length;) sent += writeSync(1, bytes, sent);
  process.exit(0);
}

// A snapshot runs no code of a model, and the first request waits for it: five seconds of processor time, which a busy
// machine may not give to a low priority within the time limit.
if (mode !== 'snapshot')
  try {
    setPriority(10);
  } catch {
    // A host that forbids it still has the limits.
  }
if (!isSealed()) process.exit(3);
if (mode === 'snapshot') await snapshot();
else if (mode === 'serve') await serve();
else readInterpreter();
