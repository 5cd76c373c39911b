import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { simulatedUpstreams } from '../books/load.ts';
import { paidRouteSetup } from '../books/paid-routes.ts';
import { runSteadyLoad } from '../books/steady-load.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { startWeir } from '../support/start-weir.ts';
import { judgeSamples, soakBounds } from './judge-samples.ts';
import { measure, measuredNodeArguments, type Sample } from './measured-process.ts';
import { type MixedCall, openMixedCalls } from './mixed-calls.ts';

/**
 * Runs a gateway with its monitor and console in a process of its own, under steady load of all interfaces. Measures
 * what may not grow: memory before and after a collection of garbage, descriptors, threads, timers, and the bytes of
 * the database for each call. The vendors are a second process, the clients this one. `--minutes 480` is the form of a
 * release; `--minutes 16` takes about 25. Periodic work is done twelve times as often, from which nothing is lost
 * (`--hurry`). `--only <expression>` takes some kinds of calls alone. The exit code is the verdict, and the last line
 * has the figures, their bounds and what exceeds them.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    /** Chats of all interfaces a second, and calls of all other kinds. */
    chats: { type: 'string', default: '20' },
    others: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    samples: { type: 'string', default: '20' },
    // Sweeps, checks and reports that are due after a minute or later are due so many times as often.
    hurry: { type: 'string', default: '12' },
    // Without a limit, the heap grows with garbage for hours, which looks like a leak.
    'heap-mb': { type: 'string', default: '160' },
    'node-argument': { type: 'string', multiple: true, default: [] },
  },
});
const [minutes, chats, others, samples] = [values.minutes, values.chats, values.others, values.samples].map(Number) as [
  number,
  number,
  number,
  number,
];
if (!(minutes > 0 && chats >= 0 && others >= 0 && chats + others > 0 && samples >= 8))
  throw new RangeError('--minutes must be positive, --chats and --others not negative, --samples at least 8');

/**
 * Simulated vendors announce 120 s for idle connections (`keep-alive: timeout=120`). The gateway closes them two
 * seconds earlier, and those of clients after 75 s. A shorter rest would count connections as leaks.
 */
const restMs = 130_000;
const folder = mkdtempSync(join(tmpdir(), 'weir-soak-'));
await using simulator = await startSimulatorProcess('/dev/null', { video: 'ms=500' });
const { searchUrl } = simulator;
const searchTool = {
  webSearch: { provider: 'searxng', baseUrl: searchUrl },
  modes: { webSearch: 'gateway' },
  imageGeneration: { model: 'gpt-image-1.5' },
};
const config = {
  upstreams: { ...simulatedUpstreams(simulator.addresses), ...paidRouteSetup.upstreams(simulator.addresses) },
  models: paidRouteSetup.models,
  ...paidRouteSetup.config,
  // On a busy machine the gate would correctly refuse some calls.
  overload: neverOverloaded,
  tools: { ...searchTool, pages: { trustedOrigins: [`http://*.localhost:${new URL(searchUrl).port}`] } },
};
const file = join(folder, 'told.json');
await using weir = await startWeir({
  config: JSON.stringify(config),
  // A collection of garbage may take long on a busy machine.
  environment: { WEIR_CONSOLE_PORT: '0', WEIR_WATCHDOG_SECONDS: '60' },
  nodeArguments: [
    '--import',
    `${pathToFileURL(join(import.meta.dirname, 'hurry-timers.ts')).href}?${values.hurry}`,
    `--max-old-space-size=${values['heap-mb']}`,
    ...values['node-argument'],
    ...measuredNodeArguments(file),
  ],
});
const pid = weir.process.pid ?? 0;
const isOver = (): boolean => weir.process.exitCode !== null || weir.process.signalCode !== null;
const mixed = others === 0 ? [] : (await openMixedCalls(weir)).filter(({ name }) => new RegExp(values.only).test(name));
const failures: string[] = [];
let calls = 0;
const sampled: Sample[] = [];
const startedMs = performance.now();
// Threads and their files are opened by the first call that needs them.
for (const kind of mixed) await kind.go().catch(() => undefined);
await delay(restMs);
const first = await take();
process.stdout.write(`${JSON.stringify({ atRest: first })}\n`);
for (let sample = 0; sample < samples && !isOver(); sample += 1) {
  const during = (): Promise<void> => runOthers(mixed, (minutes * 60_000) / samples);
  if (chats === 0) await during();
  else {
    const views = await runSteadyLoad({ gatewayUrl: weir.gatewayUrl, apiKey: weir.apiKey, callsPerSecond: chats, during });
    calls += views.length;
    failures.push(...views.flatMap(({ failure }) => (failure === undefined ? [] : [failure])));
  }
  if (isOver()) break;
  sampled.push(await take());
  process.stdout.write(`${JSON.stringify(sampled.at(-1))}\n`);
}
// Longer than the gateway and its upstream connections keep idle connections.
if (!isOver()) await delay(restMs);
const rest = isOver() ? (sampled.at(-1) ?? first) : await take();
process.stdout.write(`${JSON.stringify({ atRest: rest })}\n`);
const { problems, ...figures } = judgeSamples({ first, sampled, rest });
if (isOver()) problems.push(`it ended: ${weir.output().slice(-2000)}`);
if (failures.length > 0) problems.push(`${failures.length} calls failed: ${failures.slice(0, 5).join(' | ')}`);
if (/unhandled|uncaught|TypeError|RangeError/i.test(weir.output())) problems.push('it printed an unexpected error');
process.stdout.write(`${JSON.stringify({ minutes, calls, failed: failures.length, ...figures, bounds: soakBounds, problems })}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
rmSync(folder, { recursive: true, force: true });

async function take(): Promise<Sample> {
  // Booked calls reach the database within a second.
  await delay(2000);
  const measured = await measure(pid, { file, dataDirectory: weir.dataDirectory }).catch((error: unknown) => {
    throw new Error(`it does not tell what it holds: ${weir.output().slice(-2000)}`, { cause: error });
  });
  return { minutes: Math.round((performance.now() - startedMs) / 600) / 100, calls, failed: failures.length, ...measured };
}

/** Calls of all kinds in turn at a steady rate. A kind whose last call has not ended is passed over. */
async function runOthers(kinds: readonly MixedCall[], ms: number): Promise<void> {
  const endsMs = performance.now() + ms;
  const open = new Map<MixedCall, Promise<void>>();
  for (let number = 0; kinds.length > 0 && performance.now() < endsMs && !isOver(); number += 1) {
    const kind = kinds[(calls + number) % kinds.length] as MixedCall;
    if (!open.has(kind)) {
      open.set(
        kind,
        runOnce(kind).finally(() => open.delete(kind)),
      );
      calls += 1;
    }
    await delay(1000 / others);
  }
  await Promise.all(open.values());
  await delay(Math.max(0, endsMs - performance.now()));
}

async function runOnce(kind: MixedCall): Promise<void> {
  const failure = await kind.go().catch((error: unknown) => String(error));
  if (failure !== undefined) failures.push(`${kind.name}: ${failure}`);
}
