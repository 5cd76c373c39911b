import { join } from 'node:path';

import type { RunningSimulator } from 'weir-simulator';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { loadShippedPriceBook } from '../../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../src/billing/rating/price-book.ts';
import { recomputeAmount } from '../../src/billing/rating/recompute-amount.ts';
import type { Usage } from '../../src/inference/usage.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually, post } from './http.ts';

/** The upstream's own account of a call: the truth that the books are compared with. */
export type Truth = ReturnType<RunningSimulator['records']>[number];

/** What a client saw of its call. */
export type ClientView = {
  readonly tag: string;
  /** Characters of text in the request: with the dialect it identifies the call in the books when the client never saw its id. */
  readonly inputCharacters: number;
  readonly dialect: string;
  readonly callId: string | undefined;
  readonly status: number;
  /** True when the transport ended properly and the dialect's own end, or a whole reply, was there. */
  readonly complete: boolean;
  /** True when the client itself left. */
  readonly left: boolean;
};

const pageEntries = 10_000;

/** The ledger of a data directory, opened for reading beside whoever writes it. */
export type Ledger = {
  readonly store: Store;
  /** Every row, newest first. */
  readonly all: () => Promise<readonly CallEntry[]>;
  /** Waits until a call has its row. */
  readonly row: (callId: string, limitMs?: number) => Promise<CallEntry>;
  /** Waits until a call has `count` rows, its parts included: they are booked one after the other. */
  readonly rows: (callId: string, count: number) => Promise<readonly CallEntry[]>;
  readonly close: () => Promise<void>;
};

export async function openLedger(dataDirectory: string): Promise<Ledger> {
  return readLedger(await openSqliteStore({ path: join(dataDirectory, 'weir.sqlite'), readOnly: true }));
}

/** The ledger of a store that is open. */
export function readLedger(store: Store): Ledger {
  const all = async (): Promise<readonly CallEntry[]> => {
    const entries: CallEntry[] = [];
    for (let before: string | undefined; ; before = entries.at(-1)?.callId) {
      const page = await store.listEntries({ limit: pageEntries, ...(before === undefined ? {} : { before }) });
      entries.push(...page);
      if (page.length < pageEntries) return entries;
    }
  };
  const row = async (callId: string, limitMs?: number): Promise<CallEntry> => {
    const found = await eventually(
      () => store.findEntry(callId),
      (entry) => entry !== undefined,
      limitMs,
    );
    if (found === undefined) throw new Error(`call ${callId} has no row`);
    return found;
  };
  const rows = (callId: string, count: number): Promise<readonly CallEntry[]> =>
    eventually(
      () => store.listCallRows(callId),
      (found) => found.length >= count,
    );
  return { store, all, row, rows, close: () => store.close() };
}

const priceBook = createPriceBook({ book: loadShippedPriceBook() });

/** What a usage costs at the list prices that a row was priced with. */
export function priceOf(entry: CallEntry, usage: Usage): bigint {
  const { vendor, upstreamModel, requestedModel, acceptedAtMs, serviceTier } = entry;
  return priceBook.rate({
    vendor,
    upstreamModel,
    requestedModel,
    acceptedAtMs,
    usage,
    ...(serviceTier === undefined ? {} : { serviceTier }),
  }).amountNanoUsd;
}

/** What the upstream's model used, by its own plan. */
export function plannedUsage(truth: Pick<Truth, 'plannedUsage'>): Usage {
  const planned = truth.plannedUsage;
  if (planned === undefined) return {};
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = planned;
  const written = planned.cacheLifetime === '1h' ? { cacheWrite1hTokens: cacheWriteTokens } : { cacheWrite5mTokens: cacheWriteTokens };
  return { inputTokens, cacheReadTokens, ...written, outputTokens };
}

/** Counts that estimates may be off by: the rules of the estimate and of the upstream round differently and see other strings. */
type Tolerance = { readonly inputTokens: number; readonly outputTokens: number };

const estimateTolerance: Tolerance = { inputTokens: 24, outputTokens: 8 };

/** The most that a call broken off may cost: its input and the output that the upstream emitted, with the tolerance of an estimate. */
export function priceBound(entry: CallEntry, truth: Truth, tolerance: Tolerance = estimateTolerance): bigint {
  const { cacheReadTokens = 0, inputTokens = 0, ...rest } = plannedUsage(truth);
  // Where the cache's part comes with the final usage only, a call broken off before it is booked as if nothing had been cached.
  const isCacheKnown = entry.usage.cacheReadTokens !== undefined;
  return priceOf(entry, {
    ...rest,
    ...(isCacheKnown ? { cacheReadTokens } : {}),
    inputTokens: inputTokens + (isCacheKnown ? 0 : cacheReadTokens) + tolerance.inputTokens,
    outputTokens: truth.emittedTokens + tolerance.outputTokens,
  });
}

/** Total input and output of a usage, whatever its cache did. */
function totals(usage: Usage): { readonly input: number; readonly output: number } {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, outputTokens = 0 } = usage;
  return { input: inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens, output: outputTokens };
}

/** Whether a row says exactly what the upstream's model used. */
export function isExact(entry: CallEntry, truth: Truth): boolean {
  const planned = plannedUsage(truth);
  const [booked, used] = [totals(entry.usage), totals(planned)];
  return (
    !entry.estimated &&
    booked.input === used.input &&
    booked.output === used.output &&
    (entry.usage.cacheReadTokens ?? 0) === (planned.cacheReadTokens ?? 0) &&
    entry.charge.amountNanoUsd === priceOf(entry, planned)
  );
}

export type AuditOptions = {
  readonly entries: readonly CallEntry[];
  readonly truths: readonly Truth[];
  readonly clients: readonly ClientView[];
  /** Output tokens that a call whose process was killed may be short of. */
  readonly lostTokensMax: number;
};

export type Audit = {
  /** Everything that is wrong with the books, a sentence each. */
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Output tokens that each lost call was short of. */
  readonly shortfalls: readonly number[];
};

/**
 * Compares the books with the truth: every call that reached the upstream has exactly one row, no row is without a call unless it is free,
 * what a client received completely is booked exactly, what was broken off costs at most what was emitted, and every
 * amount follows from its own lines.
 */
export function auditBooks(options: AuditOptions): Audit {
  const problems: string[] = [];
  const counts: Record<string, number> = {};
  const shortfalls: number[] = [];
  const rows = indexRows(options.entries, problems);
  const clients = new Map(options.clients.map((client) => [client.tag, client]));
  const matched = new Set<string>();
  for (const truth of options.truths) {
    const client = truth.tag === undefined ? undefined : clients.get(truth.tag);
    if (client === undefined) {
      problems.push(`call ${truth.tag} reached the upstream, but no client made it`);
      continue;
    }
    const entry = rows.find(client, truth);
    if (entry === undefined) {
      problems.push(`${describe(client, truth)}: no row, although it reached the upstream`);
      continue;
    }
    if (matched.has(entry.callId)) problems.push(`${describe(client, truth)}: row ${entry.callId} stands for two calls`);
    matched.add(entry.callId);
    const kind = client.complete ? 'complete' : entry.end;
    counts[kind] = (counts[kind] ?? 0) + 1;
    const found = client.complete ? checkComplete(entry, truth) : checkBroken(entry, truth, options.lostTokensMax, shortfalls);
    problems.push(...found.map((problem) => `${describe(client, truth)}, row ${entry.callId} (${entry.end}): ${problem}`));
  }
  for (const entry of options.entries) {
    problems.push(...checkRow(entry));
    if (!matched.has(entry.callId) && entry.charge.amountNanoUsd !== 0n)
      problems.push(`row ${entry.callId}: charged, but never reached the upstream`);
  }
  return { problems, counts: { ...counts, rows: options.entries.length, reached: options.truths.length }, shortfalls };
}

function describe(client: ClientView, truth: Truth): string {
  return `call ${client.tag} (${client.dialect}${truth.isStream ? ', stream' : ''}, upstream ${truth.ending}, client ${client.complete ? 'complete' : client.left ? 'left' : 'broken'})`;
}

function indexRows(
  entries: readonly CallEntry[],
  problems: string[],
): { find: (client: ClientView, truth: Truth) => CallEntry | undefined } {
  const byId = new Map<string, CallEntry>();
  const bySize = new Map<string, CallEntry[]>();
  for (const entry of entries) {
    if (byId.has(entry.callId)) problems.push(`row ${entry.callId}: there twice`);
    byId.set(entry.callId, entry);
    const size = `${entry.dialect} ${entry.inputCharacters}`;
    bySize.set(size, [...(bySize.get(size) ?? []), entry]);
  }
  return {
    find: (client, truth) => {
      const size = `${client.dialect} ${client.inputCharacters}`;
      const same = bySize.get(size) ?? [];
      if (client.callId === undefined && same.length > 1) problems.push(`${same.length} rows for the one call of ${size} characters`);
      const entry = client.callId === undefined ? same[0] : byId.get(client.callId);
      const claimed = entry?.upstreamRequestId;
      if (claimed !== undefined && claimed !== truth.requestId)
        problems.push(`row ${entry?.callId}: belongs to upstream request ${claimed}, not ${truth.requestId}`);
      return entry;
    },
  };
}

function checkComplete(entry: CallEntry, truth: Truth): readonly string[] {
  if (entry.end !== 'finished') return [`its client has the whole reply, but it is booked as ${entry.end}`];
  if (isExact(entry, truth)) return [];
  return [`booked ${JSON.stringify(entry.usage)} for ${entry.charge.amountNanoUsd}, truth is ${JSON.stringify(plannedUsage(truth))}`];
}

function checkBroken(entry: CallEntry, truth: Truth, lostTokensMax: number, shortfalls: number[]): readonly string[] {
  const problems: string[] = [];
  const bound = priceBound(entry, truth);
  const amount = entry.charge.amountNanoUsd;
  if (entry.end === 'finished') {
    // Its last bytes never reached the client, but the upstream had said everything.
    return isExact(entry, truth)
      ? []
      : [`finished, but booked ${JSON.stringify(entry.usage)} instead of ${JSON.stringify(plannedUsage(truth))}`];
  }
  if (amount > bound)
    problems.push(
      `charged ${amount}, which is more than the ${bound} for ${truth.emittedTokens} emitted tokens; booked ${JSON.stringify(entry.usage)}`,
    );
  if (amount > 0n && !entry.estimated) problems.push('charged for a part, but not marked as an estimate');
  if (entry.end === 'failed' && amount !== 0n) problems.push(`failed, but charged ${amount}`);
  if (truth.headersAtMs === undefined && amount !== 0n) problems.push(`charged ${amount} for a call that was never answered`);
  if (entry.end === 'lost' && entry.upstreamStatus !== undefined && truth.isStream) {
    // Reasoning that no event shows is known only from the usage at the end.
    const hidden = entry.usage.reasoningTokens === undefined ? (truth.plannedUsage?.reasoningTokens ?? 0) : 0;
    const shortfall = truth.emittedTokens - hidden - (entry.usage.outputTokens ?? 0);
    shortfalls.push(shortfall);
    if (shortfall > lostTokensMax) problems.push(`lost ${shortfall} of ${truth.emittedTokens} emitted tokens`);
  }
  return problems;
}

/** What must be right about a row by itself. */
function checkRow(entry: CallEntry): readonly string[] {
  const problems: string[] = [];
  const amount = recomputeAmount(entry.charge.lines);
  if (amount !== entry.charge.amountNanoUsd)
    problems.push(`row ${entry.callId}: its lines come to ${amount}, not ${entry.charge.amountNanoUsd}`);
  if (priceOf(entry, entry.usage) !== entry.charge.amountNanoUsd)
    problems.push(`row ${entry.callId}: its usage costs ${priceOf(entry, entry.usage)}, not ${amount}`);
  if (entry.durationMs < 0 || (entry.firstByteMs ?? 0) < 0) problems.push(`row ${entry.callId}: negative time`);
  for (const [name, count] of Object.entries(entry.usage)) {
    if (!Number.isSafeInteger(count) || count < 0) problems.push(`row ${entry.callId}: ${name} is ${count}`);
  }
  return problems;
}

type StatsRecord = {
  readonly totalPromptTokens: number;
  readonly totalCompletionTokens: number;
  readonly totalCacheTokens: number;
  readonly totalCacheCreationTokens: number;
  readonly callCount: number;
  readonly totalAmount: number;
};

const nanoUsdPerUsd = 1_000_000_000;

/** Compares the sums of `/bill/stats` with those of the rows. Returns what differs. */
export async function compareStatistics(
  monitorUrl: string,
  billingToken: string,
  entries: readonly CallEntry[],
): Promise<readonly string[]> {
  const now = Math.floor(Date.now() / 1000);
  const sum = (records: readonly StatsRecord[]): Record<string, number> => ({
    prompt: records.reduce((total, record) => total + record.totalPromptTokens, 0),
    completion: records.reduce((total, record) => total + record.totalCompletionTokens, 0),
    cache: records.reduce((total, record) => total + record.totalCacheTokens + record.totalCacheCreationTokens, 0),
    calls: records.reduce((total, record) => total + record.callCount, 0),
    nanoUsd: records.reduce((total, record) => total + Math.round(record.totalAmount * nanoUsdPerUsd), 0),
  });
  const billed = entries.filter((entry) => entry.end !== 'failed' && entry.upstreamStatus !== undefined);
  const expected = {
    prompt: billed.reduce((total, entry) => total + totals(entry.usage).input, 0),
    completion: billed.reduce((total, entry) => total + totals(entry.usage).output, 0),
    cache: billed.reduce(
      (total, { usage }) => total + (usage.cacheReadTokens ?? 0) + (usage.cacheWrite5mTokens ?? 0) + (usage.cacheWrite1hTokens ?? 0),
      0,
    ),
    calls: billed.filter(({ parentCallId }) => parentCallId === undefined).length,
    nanoUsd: Number(billed.reduce((total, entry) => total + entry.charge.amountNanoUsd, 0n)),
  };
  const differences: string[] = [];
  for (const type of [1, 2, 3]) {
    const answer = await post(`${monitorUrl}/bill/stats`, { type, startTime: now - 7200, endTime: now + 7200 }, { token: billingToken });
    if (answer.status !== 200) {
      differences.push(`type ${type}: ${answer.status} ${answer.text.slice(0, 300)}`);
      continue;
    }
    const found = sum(answer.json.data as readonly StatsRecord[]);
    for (const [name, value] of Object.entries(expected)) {
      if (found[name] !== value) differences.push(`type ${type}: ${name} is ${found[name]} in the statistics and ${value} in the ledger`);
    }
  }
  return differences;
}
