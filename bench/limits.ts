import { withOwnLimits } from '../src/gateway/attempts/exchange/pass-headers.ts';
import { createLimiter, type LimitedSubject } from '../src/gateway/admission/limits/limiter.ts';
import { reserveCall } from '../src/gateway/admission/limits/reserve-call.ts';
import { chatDialects } from '../src/dialects/registry.ts';
import { createFakeExchange } from '../src/gateway/attempts/exchange/testing/fake-exchange.ts';
import { systemClock } from '../src/platform/clock.ts';

/**
 * The cost of limits per call, in microseconds: reserving and settling alone, all additional work of a limited call,
 * and the check of a call without limits. `node bench/limits.ts`
 */
const calls = 200_000;

function measure(name: string, step: (index: number) => void): void {
  const times: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const startedMs = performance.now();
    for (let index = 0; index < calls; index += 1) step(index);
    times.push(((performance.now() - startedMs) * 1000) / calls);
  }
  console.log(`${name.padEnd(60)} ${(times.toSorted((first, second) => first - second)[3] ?? 0).toFixed(3)} µs`);
}

const ample = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 100_000 };
let nowMs = 0;
const limiter = createLimiter({ clock: { monotonicMs: () => nowMs } });
const subjects: readonly LimitedSubject[] = [
  { scope: 'key', id: 'k', limits: ample },
  { scope: 'user', id: 'u', limits: ample },
  { scope: 'model', id: 'm', limits: ample },
];
for (const count of [1, 3]) {
  measure(`take and settle, ${count === 1 ? 'one limited subject' : 'key, user and model'}`, () => {
    nowMs += 0.2;
    const taken = limiter.reserve(subjects.slice(0, count), 500);
    if (taken.admitted) taken.settle(200);
  });
}

const caller = { id: 'k', userId: 'u', userName: 'u', name: 'k', hint: '', createdAtMs: 0, strictTranslation: false };
const common = {
  limiter,
  clock: { nowMs: systemClock.nowMs, monotonicMs: () => nowMs },
  voice: chatDialects['openai-chat'].voice,
  perKey: undefined,
  facts: { requestedModel: 'm', stream: false, inputCharacters: 400, needs: [] },
  model: undefined,
};
const free = { ...common, caller };
measure('a call without limits', () => void reserveCall(free));
const limited = { ...common, caller: { ...caller, id: 'other', limits: ample } };
measure('a limited call, with the text of its headers', () => {
  nowMs += 0.2;
  reserveCall(limited)?.reservation.settle(200);
});

const taken = reserveCall(limited);
const headers = {
  'content-type': 'application/json',
  'x-request-id': 'req_1',
  'openai-processing-ms': '12',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-remaining-requests': '9999',
};
const { relay } = createFakeExchange({ dialect: chatDialects['openai-chat'] }).context;
const own = taken === undefined ? relay : withOwnLimits(relay, taken);
measure("a reply's headers, as they pass", () => void relay.replyHeaders(headers));
measure("a reply's headers, replaced by those of the limits", () => void own.replyHeaders(headers));
