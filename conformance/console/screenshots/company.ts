import type { CallEntry } from '../../../src/billing/ledger/call-entry.ts';
import type { PriceBook } from '../../../src/billing/rating/rating.ts';
import { createIds } from '../../../src/platform/ids.ts';
import { seededRandom } from '../../../src/platform/seeded-random.ts';

/** A key of the imagined company. */
export type CompanyKey = { readonly user: string; readonly name: string; readonly id: string };

type Habit = {
  readonly user: string;
  readonly key: string;
  readonly model: string;
  readonly vendor: 'anthropic' | 'openai' | 'gemini' | 'xai';
  readonly dialect: string;
  /** Calls of a working day. */
  readonly aDay: number;
  /** Typical tokens of the input, of which a part was cached, and of the output. */
  readonly tokens: readonly [input: number, cached: number, output: number];
  /** Whether it also calls at night and at weekends. */
  readonly always?: true;
};

/** The habits of a small company. Models are those of the shipped price list. */
const habits: readonly Habit[] = [
  {
    user: 'ann',
    key: 'editor',
    model: 'claude-sonnet-4-5',
    vendor: 'anthropic',
    dialect: 'anthropic-messages',
    aDay: 60,
    tokens: [21_000, 17_000, 900],
  },
  { user: 'ann', key: 'notebook', model: 'gpt-5-mini', vendor: 'openai', dialect: 'openai-chat', aDay: 25, tokens: [2400, 0, 600] },
  {
    user: 'ben',
    key: 'editor',
    model: 'claude-opus-4-5',
    vendor: 'anthropic',
    dialect: 'anthropic-messages',
    aDay: 22,
    tokens: [34_000, 29_000, 1400],
  },
  {
    user: 'chloe',
    key: 'research',
    model: 'gemini-2.5-pro',
    vendor: 'gemini',
    dialect: 'gemini-generate-content',
    aDay: 30,
    tokens: [9000, 0, 1200],
  },
  {
    user: 'support',
    key: 'chat',
    model: 'gpt-5',
    vendor: 'openai',
    dialect: 'openai-responses',
    aDay: 70,
    tokens: [3200, 1500, 450],
    always: true,
  },
  {
    user: 'support',
    key: 'summaries',
    model: 'claude-haiku-4-5',
    vendor: 'anthropic',
    dialect: 'anthropic-messages',
    aDay: 45,
    tokens: [4100, 0, 320],
    always: true,
  },
  {
    user: 'ci',
    key: 'review',
    model: 'gpt-5-mini',
    vendor: 'openai',
    dialect: 'openai-responses',
    aDay: 55,
    tokens: [12_000, 6000, 700],
    always: true,
  },
];

/** The keys that the habits name. */
export const companyKeys: readonly Omit<CompanyKey, 'id'>[] = habits.map(({ user, key }) => ({ user, name: key }));

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/**
 * The calls that the company has made until now, oldest first: more of them by day than at night, less at weekends, a
 * few of them failed. The same seed and moment give the same calls, but for their ids.
 * @param prices the book that prices them, as a gateway does
 */
export function callsOfCompany(keys: readonly CompanyKey[], prices: PriceBook, nowMs: number, days: number): readonly CallEntry[] {
  const random = seededRandom(20_261);
  const newId = createIds({ nowMs: () => nowMs, monotonicMs: () => 0 });
  const entries: CallEntry[] = [];
  for (let startMs = Math.floor((nowMs - days * dayMs) / hourMs) * hourMs; startMs < nowMs; startMs += hourMs)
    for (const habit of habits) {
      const count = Math.floor(habit.aDay * shareOfHour(startMs, habit.always === true) * (0.7 + 0.6 * random()) + random());
      for (let call = 0; call < count; call += 1) {
        const acceptedAtMs = startMs + Math.floor(random() * hourMs);
        if (acceptedAtMs < nowMs - 5000) entries.push(createEntry(habit, keys, prices, acceptedAtMs, newId('req'), random));
      }
    }
  return entries.toSorted((a, b) => a.acceptedAtMs - b.acceptedAtMs);
}

/** Which part of a working day's calls is made in this hour. */
function shareOfHour(atMs: number, always: boolean): number {
  const at = new Date(atMs);
  const isWorking = at.getUTCDay() % 6 !== 0;
  const byDay = isWorking ? Math.max(0, Math.sin(((at.getUTCHours() - 5) / 15) * Math.PI)) / 9.5 : 0.004;
  return always ? (byDay + 0.03) / 1.7 : byDay;
}

function createEntry(
  { user, key, model, vendor, dialect, tokens }: Habit,
  keys: readonly CompanyKey[],
  prices: PriceBook,
  acceptedAtMs: number,
  callId: string,
  random: () => number,
): CallEntry {
  const spread = 0.4 + 1.4 * random() ** 2;
  const [input, cached, output] = tokens.map((count) => Math.round(count * spread)) as [number, number, number];
  const isFailed = random() < 0.006;
  const usage = isFailed ? {} : { inputTokens: input - cached, ...(cached > 0 && { cacheReadTokens: cached }), outputTokens: output };
  const firstByteMs = Math.round(260 + 900 * random() ** 2 + input / 80);
  const upstreamModel = model;
  const keyId = keys.find((one) => one.user === user && one.name === key)?.id ?? '';
  const call = { vendor, upstreamModel, requestedModel: model, acceptedAtMs, userName: user, keyId };
  return {
    ...call,
    callId,
    keyName: key,
    dialect,
    upstream: `simulated-${vendor}`,
    stream: dialect !== 'gemini-generate-content',
    inputCharacters: input * 4,
    priceVersion: prices.version,
    end: isFailed ? 'failed' : 'finished',
    ...(isFailed
      ? { errorCode: 'upstream_overloaded', upstreamStatus: 529 }
      : { upstreamStatus: 200, servedModel: model, stopReason: 'end_turn', firstByteMs }),
    usage,
    estimated: false,
    durationMs: firstByteMs + Math.round(output * (6 + 6 * random())),
    charge: isFailed ? { amountNanoUsd: 0n, lines: [] } : prices.rate({ ...call, usage }),
  };
}
