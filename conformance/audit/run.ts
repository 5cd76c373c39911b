import { parseArgs } from 'node:util';

import { skipPostgres } from '../support/start-postgres.ts';
import { auditCrashes, type CrashFigures } from './audit-crashes.ts';
import { auditOutage } from './audit-outage.ts';
import { auditPowerLosses } from './audit-power-loss.ts';
import type { Engine } from './start-fleet.ts';

/**
 * Kills gateways under load and prints the state of the books: `npm run audit:crash -- --kills 10000 --store
 * sqlite --seed 7 --crowd 1000`. Without `--store` both engines are audited, PostgreSQL only where a server is
 * installed. Before that, a journal over a real database loses its power 300 times (`--power-losses`): unsynced writes
 * vanish in any subset, torn anywhere. With `--outage 600 --rate 100` only PostgreSQL is stopped, for 600 seconds with
 * 100 calls per second. The exit code says whether everything was correct.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '30' },
    store: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    crowd: { type: 'string', default: '1000' },
    clients: { type: 'string', default: '12' },
    'power-losses': { type: 'string', default: '300' },
    outage: { type: 'string' },
    rate: { type: 'string', default: '100' },
  },
});

/** A new world begins after this many kills, because requests are identified by their length. */
const killsPerWorld = 200;
const problemsShown = 20;

function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 0) throw new Error(`--${name} must be a whole number`);
  return count;
}

function enginesOf(store: string | undefined): readonly Engine[] {
  if (store === undefined) return skipPostgres !== false ? ['sqlite'] : ['sqlite', 'postgres'];
  if (store !== 'sqlite' && store !== 'postgres') throw new Error('--store must be sqlite or postgres');
  return [store];
}

function describe(figures: readonly CrashFigures[]): string {
  const shortfalls = figures.flatMap((each) => each.shortfalls).toSorted((left, right) => left - right);
  const at = (share: number): number => shortfalls[Math.min(shortfalls.length - 1, Math.floor(shortfalls.length * share))] ?? 0;
  const sum = (countOf: (each: CrashFigures) => number | bigint): string =>
    String(figures.reduce((total, each) => total + BigInt(countOf(each)), 0n));
  return [
    `calls ${sum((each) => each.calls)}, rows ${sum((each) => each.rows)}, retried ${sum((each) => each.retried)}`,
    `  missing ${sum((each) => each.missing)}, doubled ${sum((each) => each.doubled)}`,
    `tokens not charged for cut streams: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} (of ${shortfalls.length}, ${sum((each) => each.witnessed)} of which must have a charge)`,
    `  held at rest ${sum((each) => each.heldAtRestNanoUsd)} nano-USD, over limit ${sum((each) => each.overLimitNanoUsd)} nano-USD`,
    `burst: ${sum((each) => each.crowdServed)} served, ${sum((each) => each.crowdLeftNanoUsd)} nano-USD left of the limit; answers by status ${JSON.stringify(figures.map((each) => each.crowdStatuses))}`,
  ].join('\n');
}

async function audit(engine: Engine, kills: number, seed: number): Promise<boolean> {
  const figures: CrashFigures[] = [];
  const [clients, crowd] = [readCount('clients', values.clients), readCount('crowd', values.crowd)];
  for (let done = 0; done < kills; done += killsPerWorld) {
    const options = { engine, kills: Math.min(killsPerWorld, kills - done), seed: seed + done, clients, crowd };
    figures.push(await auditCrashes(options));
    const problems = figures.at(-1)?.problems ?? [];
    for (const problem of problems.slice(0, problemsShown)) process.stderr.write(`${engine}, seed ${seed + done}: ${problem}\n`);
    process.stdout.write(`${engine}: ${done + options.kills} of ${kills} kills, seed ${seed}\n${describe(figures)}\n`);
  }
  return figures.every(({ problems }) => problems.length === 0);
}

async function losePower(losses: number, seed: number): Promise<boolean> {
  if (losses === 0) return true;
  const { problems, ...figures } = await auditPowerLosses({ losses, seed });
  for (const problem of problems.slice(0, problemsShown)) process.stderr.write(`power losses, seed ${seed}: ${problem}\n`);
  process.stdout.write(`the journal lost its power: ${JSON.stringify(figures)}\n`);
  return problems.length === 0;
}

/** Memory settles in the first minute. */
const warmUpSeconds = 60;

async function outage(seconds: number): Promise<boolean> {
  const { problems, ...figures } = await auditOutage({ seconds, callsPerSecond: readCount('rate', values.rate), warmUpSeconds });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`PostgreSQL was down for ${seconds} s: ${JSON.stringify(figures)}\n`);
  return problems.length === 0;
}

const seed = readCount('seed', values.seed);
let isRight = true;
if (values.outage !== undefined) isRight = await outage(readCount('outage', values.outage));
else isRight = await losePower(readCount('power-losses', values['power-losses']), seed);
if (values.outage === undefined)
  for (const engine of enginesOf(values.store)) isRight = (await audit(engine, readCount('kills', values.kills), seed)) && isRight;
process.stdout.write(isRight ? 'the books are right\n' : 'THE BOOKS ARE WRONG\n');
process.exitCode = isRight ? 0 : 1;
