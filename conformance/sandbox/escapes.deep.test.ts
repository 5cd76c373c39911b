import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { assertNextRunWorks, type Bench, type Host, openBench, openHost } from './sandbox-kit.ts';

/**
 * An attempt in Python: its code, and the required text of its answer. `HOST`, `PORT` and `PARENT` stand for the host's
 * folder, port and process.
 */
type Attempt = { readonly name: string; readonly code: string; readonly says: RegExp; readonly failed?: boolean };

/** Prints every object of JavaScript that Python can reach without `js`. */
const reachJs = `
import gc, sys
from pyodide.ffi import to_js, JsProxy, create_proxy
array = to_js([1])
Function = array.constructor.constructor
`;

const attempts: readonly Attempt[] = [
  { name: 'a shell by os.system', code: 'import os\nos.system("touch HOST/owned; id")', says: /^result:\n-1$/ },
  {
    name: 'a program by subprocess',
    code: 'import subprocess\nsubprocess.run(["id"])',
    says: /OSError: .*emscripten does not support processes/,
    failed: true,
  },
  {
    name: 'a program by os.execv',
    code: 'import os\nos.execv("/bin/sh", ["sh", "-c", "touch HOST/owned"])',
    says: /OSError: .*Exec format error/,
    failed: true,
  },
  {
    name: 'a program by os.posix_spawn',
    code: 'import os\nos.posix_spawn("/bin/sh", ["sh"], {})',
    says: /has no attribute 'posix_spawn'/,
    failed: true,
  },
  { name: 'a fork', code: 'import os\nos.fork()', says: /OSError: .*Function not implemented/, failed: true },
  {
    name: 'forks by multiprocessing',
    code: 'import multiprocessing as m\nm.Process(target=print).start()',
    says: /No module named '_multiprocessing'/,
    failed: true,
  },
  {
    name: 'a pipe to a shell by os.popen',
    code: 'import os\nprint(os.popen("id").read())',
    says: /OSError: .*emscripten does not support processes/,
    failed: true,
  },
  { name: 'the password file', code: 'open("/etc/passwd").read()', says: /FileNotFoundError/, failed: true },
  { name: 'a file of the gateway by its path', code: 'open("HOST/journal").read()', says: /FileNotFoundError/, failed: true },
  {
    name: 'the gateway’s own source',
    code: `open(${JSON.stringify(import.meta.filename)}).read()`,
    says: /FileNotFoundError/,
    failed: true,
  },
  {
    name: 'a file through a symbolic link',
    code: 'import os\nos.symlink("HOST/journal", "/tmp/l")\nopen("/tmp/l").read()',
    says: /FileNotFoundError/,
    failed: true,
  },
  {
    name: 'a file outside by a relative path',
    code: 'open("/../../../../../..HOST/journal").read()',
    says: /FileNotFoundError/,
    failed: true,
  },
  { name: 'the environment', code: 'import os\nprint(sorted(os.environ))', says: /HOME/ },
  { name: 'the environment of the process by /proc', code: 'open("/proc/self/environ").read()', says: /FileNotFoundError/, failed: true },
  {
    name: 'memory of the process by /proc',
    code: 'import os\nprint(os.listdir("/proc"))\nopen("/proc/self/mem", "rb")',
    says: /FileNotFoundError/,
    failed: true,
  },
  { name: 'a list of the host’s root', code: 'import os\nprint(sorted(os.listdir("/")))', says: /\['dev', 'home', 'lib', 'proc', 'tmp'\]/ },
  {
    name: 'a file written outside',
    code: 'import os\nos.makedirs("HOST")\nopen("HOST/owned", "w").write("x")\nprint("inside only")',
    says: /inside only/,
  },
  {
    name: 'a socket to the host',
    code: 'import socket\ns = socket.create_connection(("127.0.0.1", PORT), 2)\ns.send(b"x")',
    says: /OSError: .*Host is unreachable/,
    failed: true,
  },
  {
    name: 'a datagram',
    code: 'import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b"x", ("127.0.0.1", PORT))',
    says: /OSError: .*Host is unreachable/,
    failed: true,
  },
  {
    name: 'a server socket',
    code: 'import socket\ns = socket.socket()\ns.bind(("0.0.0.0", 0))\ns.listen()\ns.accept()',
    says: /OSError: .*Not supported/,
    failed: true,
  },
  {
    name: 'a name looked up',
    code: 'import socket\nprint(socket.getaddrinfo("secret.example.com", 80))\ns = socket.create_connection(("secret.example.com", 80), 2)',
    says: /OSError: .*Host is unreachable/,
    failed: true,
  },
  {
    name: 'a page by urllib',
    code: 'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:PORT/", timeout=2)',
    says: /URLError: .*Host is unreachable/,
    failed: true,
  },
  {
    name: 'a page by pyodide.http',
    code: 'from pyodide.http import pyfetch\nawait pyfetch("http://127.0.0.1:PORT/")',
    says: /name 'AbortController' is not defined/,
    failed: true,
  },
  {
    name: 'a page by pyodide.http.open_url',
    code: 'from pyodide.http import open_url\nopen_url("http://127.0.0.1:PORT/")',
    says: /name 'XMLHttpRequest' is not defined/,
    failed: true,
  },
  { name: 'import js', code: 'import js\njs.fetch', says: /ModuleNotFoundError/, failed: true },
  { name: 'XMLHttpRequest of js', code: 'from js import XMLHttpRequest', says: /ModuleNotFoundError/, failed: true },
  { name: 'WebSocket of js', code: 'from js import WebSocket', says: /ModuleNotFoundError/, failed: true },
  { name: 'import pyodide_js', code: 'import pyodide_js\npyodide_js._module', says: /AttributeError/, failed: true },
  { name: 'run_js', code: 'from pyodide.code import run_js\nrun_js("process.exit(1)")', says: /No module named 'js'/, failed: true },
  {
    name: 'a constructor of functions',
    code: `${reachJs}Function("return process")()`,
    says: /Code generation from strings disallowed/,
    failed: true,
  },
  {
    name: 'constructors of asynchronous functions and generators',
    code: `${reachJs}
proxy = create_proxy(print)
import pyodide.ffi, asyncio
for candidate in (array.values().constructor, to_js({}).constructor, Function.prototype.constructor, Function.prototype.bind(Function)):
    try:
        print(candidate("return globalThis")())
    except BaseException as error:
        print(type(error).__name__)`,
    says: /^stdout:\n(?:(?:JsException|TypeError)\n?){4}$/,
  },
  {
    name: 'Node by every reachable object of JavaScript',
    code: `${reachJs}
import asyncio
from _pyodide._importhook import JsFinder
from collections import deque
Object = Function.prototype.__proto__.constructor
queue = deque([o for o in gc.get_objects() if isinstance(o, JsProxy)] + [array, Function])
for finder in [o for o in gc.get_objects() if type(o) is JsFinder]: queue.extend(finder.jsproxies.values())
print('start', len(queue), 'api', any(hasattr(o, 'FS') for o in queue))
wanted = {'process', 'require', 'createRequire', 'getBuiltinModule', 'binding', '_linkedBinding', 'dlopen', 'readFileSync', 'spawn', 'mainModule', '_handle', 'execPath', 'reallyExit', 'writeSync'}
# A set of JavaScript knows objects again; js_id is another for each way to them.
seen, found, count = to_js(set()), set(), 0
while queue:
    item = queue.popleft()
    if seen.has(item): continue
    seen.add(item); count += 1
    if hasattr(item, 'byteLength'): continue  # A view of the memory has a name for every byte.
    try: names = set(Object.getOwnPropertyNames(item))
    except BaseException: names = set()
    if 'malloc' not in names: found |= names & wanted  # The interpreter's own C library has a dlopen, too. It is inside.
    for name in names - {'novalue'}:  # Asking this one for anything never ends.
        try: child = Object.getOwnPropertyDescriptor(item, name).value
        except BaseException: continue
        if isinstance(child, JsProxy): queue.append(child)
    try: parent = Object.getPrototypeOf(item)
    except BaseException: continue
    if isinstance(parent, JsProxy): queue.append(parent)
    elif hasattr(parent, 'exception'):  # What has a then is awaited by the glue, as the prototype of promises is; it has another way in.
        await asyncio.wait([parent], timeout=1)
        if parent.done(): parent.exception()
print('seen', count, 'found', sorted(found))`,
    says: /start \d+ api True\nseen \d{5} found \[\]/,
  },
  {
    name: 'the glue’s own interface by its modules',
    code: `
import sys, gc, types
hits = []
for module in list(sys.modules.values()):
    for name in ('_module', 'mountNodeFS', '_api', 'FS', 'loadPackage'):
        try:
            if hasattr(module, name): hits.append((module.__name__, name))
        except BaseException: pass
import _pyodide_core
print(hits, [n for n in dir(_pyodide_core) if 'js' in n.lower()][:3])
import importlib
for name in ('js', 'pyodide_js', 'pyodide_js._api'):
    try:
        module = importlib.import_module(name); print('got', [n for n in dir(module) if not n.startswith('__')])
    except BaseException as error: print(type(error).__name__)`,
    says: /ModuleNotFoundError\ngot \[\]\ngot \['config', 'scheduleCallback'\]/,
  },
  {
    name: 'the finder of JavaScript modules, restored',
    code: `
import gc, sys
from _pyodide._importhook import JsFinder
finders = [o for o in gc.get_objects() if type(o) is JsFinder]
for finder in finders:
    sys.meta_path.insert(0, finder)
try:
    import pyodide_js
    module = pyodide_js._module
    print('NODEFS', hasattr(module, 'NODEFS'), 'ENV', hasattr(module, 'ENV'))
    for attempt in (lambda: pyodide_js.mountNodeFS('/mnt', 'HOST'), lambda: module.FS.filesystems.NODEFS.mount, lambda: pyodide_js.useNodeSockFS()):
        try: print(attempt())
        except BaseException as error: print('refused', type(error).__name__)
    import os
    print(os.path.exists('/mnt/journal'))
finally:
    for finder in finders: sys.meta_path.remove(finder)`,
    says: /module 'pyodide_js' has no attribute '_module'/,
  },
  { name: 'packages by micropip', code: 'import micropip\nawait micropip.install("numpy")', says: /standard library/, failed: true },
  {
    name: 'packages by pip',
    code: 'import subprocess, sys\nsubprocess.check_call([sys.executable, "-m", "pip", "install", "numpy"])',
    says: /OSError: .*emscripten does not support processes/,
    failed: true,
  },
  {
    name: 'a library by ctypes',
    code: 'import ctypes\nlibc = ctypes.CDLL("libc.so.6")\nlibc.system(b"id")',
    says: /OSError: could not load dynamic lib: libc/,
    failed: true,
  },
  {
    name: 'the process’s own symbols by ctypes',
    code: 'import ctypes\nprint(ctypes.CDLL(None).system(b"touch HOST/owned"))',
    says: /^stdout:\n-1$/,
  },
  {
    name: 'machine code in a file, loaded',
    code: 'import ctypes\nopen("/tmp/x.so", "wb").write(b"\\x00asm\\x01\\x00\\x00\\x00")\nctypes.CDLL("/tmp/x.so")',
    says: /OSError: could not load dynamic lib/,
    failed: true,
  },
  { name: 'a signal to the gateway', code: 'import os, signal\nos.kill(PARENT, signal.SIGKILL)', says: /PermissionError/, failed: true },
  { name: 'the gateway’s process by os.getppid', code: 'import os\nprint(os.getppid() == PARENT)', says: /False/ },
  { name: 'a thread', code: 'import threading\nthreading.Thread(target=print).start()', says: /can't start new thread/, failed: true },
  {
    name: 'a pickle that runs os.system',
    code: 'import os, pickle\nclass A:\n  def __reduce__(self): return (os.system, ("touch HOST/owned",))\nprint(pickle.loads(pickle.dumps(A())))',
    says: /^stdout:\n-1$/,
  },
  {
    name: 'the host by frames and stack traces',
    code: `${reachJs}
import traceback
try:
    Function("x")
except BaseException as error:
    text = str(getattr(error, 'stack', '')) + repr(error)
    print('secret' if 'canary' in text else 'nothing')
    try:
        array.constructor.constructor.prototype.constructor.prepareStackTrace = create_proxy(lambda e, s: s)
        print(type(Function.prototype).__name__)
    except BaseException as inner: print(type(inner).__name__)`,
    says: /nothing/,
  },
  { name: 'random numbers that are not shared', code: 'import random\nrandom.random()', says: /result:\n(?:0\.\d+|\d\S*e-\d+)$/ },
];

describe('attempts to leave the sandbox', { timeout: 600_000 }, () => {
  let host: Host;
  let bench: Bench;
  before(async () => {
    host = await openHost();
    // Some of them search all objects, beside other suites.
    bench = await openBench({ timeoutMs: 40_000 });
  });
  after(async () => {
    await bench.close();
    await host.close();
  });
  for (const { name, code, says, failed } of attempts) {
    test(name, async () => {
      const text = code.replaceAll('HOST', host.folder).replaceAll('PORT', String(host.port)).replaceAll('PARENT', String(process.pid));
      const outcome = await bench.run(text);
      assert.match(outcome.answer, says);
      if (failed === true) assert.equal(outcome.shown.failed, true, outcome.answer);
      assert.ok(!JSON.stringify(outcome).includes(host.secret), 'the secret was leaked');
      assert.deepEqual(outcome.usage, { codeExecutions: 1 });
      await host.assertUntouched();
      await assertNextRunWorks(bench);
    });
  }
});
