import { on } from 'node:events';
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe } from 'node:test';
import { inspect } from 'node:util';

/**
 * A process that runs suites one after another, so that they load shared code once. Each message contains the path of
 * a suite, and the process answers when the suite has ended. After an empty message the process ends by itself.
 * Each file is loaded in its own `describe`, so that its hooks run for its own tests only. An error that nobody caught
 * ends the process at once: its test would wait for its time limit, and the state of the process is unknown.
 */
const require = createRequire(import.meta.url);
let suite = '';

/** Says which suite ran, as the reporter does (`run-suites.ts` reads it). */
function endAfter(error: unknown): void {
  writeSync(2, `✖ ${suite} (an error that nobody caught)\n${inspect(error)}\n`);
  process.exit(1);
}
process.on('uncaughtExceptionMonitor', endAfter);
process.on('unhandledRejection', endAfter);

for await (const [file] of on(process, 'message', { close: ['disconnect'] }) as AsyncIterable<readonly [string]>) {
  if (file === '') break;
  suite = file;
  // `require` evaluates the file at once, inside of this `describe`. An import would evaluate it later, outside.
  await describe(file, () => void require(file));
  process.send?.('ended');
}
process.disconnect?.();
