import { createHealth } from '../src/gateway/attempts/health/create-health.ts';
import { createRetryBudget } from '../src/gateway/attempts/retry/retry-budget.ts';
import { systemClock } from '../src/platform/clock.ts';
import { silentLogger } from '../src/platform/log.ts';

/**
 * The cost of its target's health per call, in microseconds: the look-up alone, and the whole for a target that is one
 * of few and one of thousands. `node bench/health.ts`
 */
const calls = 1_000_000;
const answered = { type: 'answered' } as const;

function measure(name: string, step: (index: number) => void): void {
  const times: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    // The processor time of this thread: other load does not make it longer.
    const before = process.threadCpuUsage();
    for (let index = 0; index < calls; index += 1) step(index);
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / calls);
  }
  console.log(`${name.padEnd(60)} ${(times.toSorted((first, second) => first - second)[3] ?? 0).toFixed(3)} µs`);
}

for (const count of [3, 9000]) {
  const health = createHealth({ clock: systemClock, random: Math.random, logger: silentLogger });
  const subjects = Array.from({ length: count }, (_, index) => ({
    upstreamId: `up-${index % 3}`,
    credentialId: 'key',
    upstreamModel: `model-${index}`,
  }));
  for (const subject of subjects) health.of(subject);
  const pick = (index: number) => subjects[(index * 7919) % count] ?? { upstreamId: '', credentialId: '', upstreamModel: '' };
  measure(`of, ${count} targets`, (index) => void health.of(pick(index)));
  measure(`of, availability, begin, headArrived, end, ${count} targets`, (index) => {
    const target = health.of(pick(index));
    if (!target.availability(systemClock.monotonicMs()).usable) throw new Error('healthy');
    const ticket = target.begin();
    ticket.headArrived();
    ticket.contentArrived();
    ticket.end(answered);
  });
}
measure('the clock, four times', () => {
  for (let times = 0; times < 4; times += 1) systemClock.monotonicMs();
});

const budget = createRetryBudget();
measure('the budget of a successful call', () => budget.succeeded('up-1'));
