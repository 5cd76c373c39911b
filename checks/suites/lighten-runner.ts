import type { createHook } from 'node:async_hooks';
import { createRequire } from 'node:module';

/**
 * Loaded before the suites of a run: the test runner then follows tests only, not every promise, timer and socket. With
 * its hook for all of them a suite that makes calls takes a quarter more processor time. The runner uses the hook to
 * name the test of an error that nobody caught; without it such an error still fails the run, and `suite-worker.ts`
 * names the suite.
 */
const hooks = createRequire(import.meta.url)('node:async_hooks') as { createHook: typeof createHook };
const original = hooks.createHook;
hooks.createHook = (callbacks) =>
  original({
    init: (id, type, trigger, resource) => {
      if (type === 'Test') callbacks.init?.(id, type, trigger, resource);
    },
    trackPromises: false,
  });
await import('node:test');
hooks.createHook = original;
