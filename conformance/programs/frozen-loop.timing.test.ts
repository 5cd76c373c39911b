import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { call, eventually } from '../support/http.ts';
import { removal, startWeir } from '../support/start-weir.ts';

const freezing = { nodeArguments: ['--import', fileURLToPath(new URL('../support/freeze-loop.ts', import.meta.url))] };
const endsWithinMs = 8000;

// Two at once: they wait for most of the time, and each has a processor.
describe('F97: a blocked event loop', { concurrency: 2 }, () => {
  for (const command of ['start', 'gateway', 'monitor'] as const)
    test(`${command}: the process reports where it was blocked and exits, and the next one counts it`, async (context) => {
      const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-frozen-'));
      context.after(() => rmSync(dataDirectory, removal));
      const config = JSON.stringify({ upstreams: { own: { vendor: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk-none' } } });
      const options = { command, dataDirectory, config, ...freezing } as const;
      // A monitor reads the data of a gateway.
      if (command === 'monitor') await (await startWeir({ ...options, command: 'gateway' })).stop();
      const frozen = await startWeir({ ...options, environment: { WEIR_WATCHDOG_SECONDS: '1' } });
      const ended = once(frozen.process, 'exit', { signal: AbortSignal.timeout(endsWithinMs) });
      frozen.process.kill('SIGUSR2');
      const [, signal] = (await ended) as [number | null, NodeJS.Signals | null];
      assert.equal(signal, 'SIGKILL');
      assert.match(frozen.output(), /"stack":\["standStill \(file:.*freeze-loop\.ts:3:\d+\)".*event loop was blocked/);

      const next = await startWeir({ ...options, environment: { WEIR_METRICS_PORT: '0' } });
      context.after(() => next.stop());
      await eventually(
        () => next.output(),
        (output) => /"restarts":1,.*processes killed by the watchdog/.test(output),
      );
      if (next.metricsUrl !== '') {
        const { text } = await call(next.metricsUrl);
        assert.match(text, /^weir_loop_watchdog_restarts 1$/m);
        assert.match(text, /^weir_loop_longest_silence_seconds [\d.]+$/m);
      }
    });

  test('a process that was stopped for longer continues, and so does one without a watchdog', async (context) => {
    const stopped = await startWeir({ environment: { WEIR_WATCHDOG_SECONDS: '1' } });
    context.after(() => stopped[Symbol.asyncDispose]());
    stopped.process.kill('SIGSTOP');
    await delay(3000);
    stopped.process.kill('SIGCONT');
    await delay(1500);
    assert.equal((await call(`${stopped.gatewayUrl}/health/live`)).status, 200);

    const unwatched = await startWeir({ environment: { WEIR_WATCHDOG_SECONDS: '0' }, ...freezing });
    unwatched.process.kill('SIGUSR2');
    await delay(2500);
    assert.deepEqual([unwatched.process.exitCode, unwatched.process.signalCode], [null, null]);
    unwatched.process.kill('SIGKILL');
    await unwatched[Symbol.asyncDispose]();
  });
});
