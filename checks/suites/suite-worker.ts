import { on } from 'node:events';
import { createRequire } from 'node:module';
import { describe } from 'node:test';

/**
 * A process that runs suites one after another, so that they load shared code once. Each message contains the path of
 * a suite, and the process answers when the suite has ended. After an empty message the process ends by itself.
 * Each file is loaded in its own `describe`, so that its hooks run for its own tests only.
 */
const require = createRequire(import.meta.url);

for await (const [file] of on(process, 'message', { close: ['disconnect'] }) as AsyncIterable<readonly [string]>) {
  if (file === '') break;
  // `require` evaluates the file at once, inside of this `describe`. An import would evaluate it later, outside.
  await describe(file, () => void require(file));
  process.send?.('ended');
}
process.disconnect?.();
