import { registerHooks } from 'node:module';

/** The globals of a web worker that Python needs. Everything else that Node adds to the language is removed. */
const allowedGlobals = new Set([
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'WebAssembly',
  'AbortController',
  'AbortSignal',
  'DOMException',
  'atob',
  'btoa',
]);

/** ECMAScript's globals, which reach nothing outside the language. */
const language =
  /^(?:Object|Function|Array|Number|parse(?:Float|Int)|Infinity|NaN|undefined|Boolean|String|Symbol|Date|Promise|RegExp|\w*Error|globalThis|JSON|Math|Intl|ArrayBuffer|SharedArrayBuffer|Atomics|\w+Array|DataView|Map|BigInt|Set|Iterator|WeakMap|WeakSet|Proxy|Reflect|FinalizationRegistry|WeakRef|(?:de|en)codeURI(?:Component)?|escape|unescape|eval|is(?:Finite|NaN)|SuppressedError|(?:Async)?DisposableStack|Temporal)$/;

/** The files of the interpreter, by name. */
export type InterpreterFiles = ReadonlyMap<string, Uint8Array>;

/**
 * Makes Node unreachable. Python's JavaScript glue then sees a bare web worker without `process`, `Buffer`, `require`,
 * sockets or files. The interpreter follows its browser code paths, which contain no Node objects. Its own files come
 * from `files` through a `fetch` that has nothing else.
 * @returns the step that removes everything that only loading needs; after it no module can be imported either
 */
export function hideHost(folder: string, files: InterpreterFiles): () => void {
  const hide = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true });
  };
  const monotonic = performance.now.bind(performance);
  const random = crypto.getRandomValues.bind(crypto);
  const timers = plainTimers();
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!allowedGlobals.has(name) && !language.test(name)) Reflect.deleteProperty(globalThis, name);
  }
  for (const [name, timer] of Object.entries(timers)) hide(name, timer);
  hide('performance', { now: monotonic, timeOrigin: 0 });
  hide('crypto', { getRandomValues: random });
  hide('console', silentConsole());
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
  pretendToBeWorker(folder, files, hide);
  return closeDoors();
}

/** Node's timer objects refer to its lists of timers; numbers refer to nothing. */
function plainTimers(): Record<string, (...args: never[]) => unknown> {
  const [startTimeout, startInterval, startImmediate] = [setTimeout, setInterval, setImmediate];
  const [stopTimeout, stopImmediate] = [clearTimeout, clearImmediate];
  type Callback = (...values: unknown[]) => void;
  const running = new Map<number, () => void>();
  let last = 0;
  const once = (start: (fire: () => void) => () => void, callback: Callback, values: unknown[]): number => {
    const id = ++last;
    running.set(
      id,
      start(() => {
        running.delete(id);
        callback(...values);
      }),
    );
    return id;
  };
  const stop = (id: number): void => {
    running.get(id)?.();
    running.delete(id);
  };
  return {
    setTimeout: (callback: Callback, ms?: number, ...values: unknown[]) =>
      once(
        (fire) => {
          const timer = startTimeout(fire, ms);
          return () => stopTimeout(timer);
        },
        callback,
        values,
      ),
    setImmediate: (callback: Callback, ...values: unknown[]) =>
      once(
        (fire) => {
          const timer = startImmediate(fire);
          return () => stopImmediate(timer);
        },
        callback,
        values,
      ),
    setInterval: (callback: Callback, ms?: number, ...values: unknown[]) => {
      const id = ++last;
      const timer = startInterval(() => callback(...values), ms);
      running.set(id, () => stopTimeout(timer));
      return id;
    },
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
  };
}

/** Node's console holds its streams, and a stream is a socket. */
function silentConsole(): object {
  const silent = (): void => undefined;
  const quiet: Record<string, () => void> = { __proto__: null } as never;
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'assert', 'dir', 'table', 'group', 'groupEnd'])
    quiet[name] = silent;
  return quiet;
}

type Engine = { readonly instantiate: (bytes: ArrayBuffer, imports: object) => Promise<object> };
type Reply = { readonly arrayBuffer: () => Promise<ArrayBuffer> };

/** Makes the global object look like a web worker whose files come from `files`. */
function pretendToBeWorker(folder: string, files: InterpreterFiles, hide: (name: string, value: unknown) => void): void {
  hide('WorkerGlobalScope', { [Symbol.hasInstance]: () => true });
  hide('self', globalThis);
  hide('location', new URL(folder));
  hide('fetch', (address: unknown) => {
    const bytes = files.get(String(address).split('/').at(-1) ?? '');
    if (bytes === undefined) return Promise.reject(new TypeError('There is no network.'));
    const text = (): string => new TextDecoder().decode(bytes);
    return Promise.resolve({
      ok: true,
      status: 200,
      arrayBuffer: () => Promise.resolve(bytes.slice().buffer),
      text: () => Promise.resolve(text()),
      json: () => Promise.resolve(JSON.parse(text()) as unknown),
    });
  });
  const { WebAssembly: engine } = globalThis as unknown as { readonly WebAssembly: Engine };
  const { instantiate } = engine;
  Object.assign(engine, {
    instantiateStreaming: async (reply: Promise<Reply>, imports: object) => instantiate(await (await reply).arrayBuffer(), imports),
  });
}

function closeDoors(): () => void {
  let closed = false;
  registerHooks({
    resolve: (specifier, context, next) => {
      if (closed || !/^file:.*\/pyodide(?:\.asm)?\.mjs$/.test(specifier)) throw new Error(`The module ${specifier} is not available here.`);
      return next(specifier, context);
    },
  });
  return () => {
    closed = true;
    for (const name of ['fetch', 'location', 'WorkerGlobalScope', 'URL', 'AbortController', 'AbortSignal']) {
      Reflect.deleteProperty(globalThis, name);
    }
  };
}
