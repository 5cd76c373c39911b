import type { RunningSimulator } from 'weir-simulator';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { loadShippedPriceBook } from '../../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../src/billing/rating/price-book.ts';
import { recomputeAmount } from '../../src/billing/rating/recompute-amount.ts';
import type { Usage } from '../../src/inference/usage.ts';
import { post } from './http.ts';
import { secondPriceOf } from './second-calculator.ts';
import { notedTokensMin, type ShownText } from './shown-text.ts';

/** The upstream's own record of a call: the truth that the books are compared with. */
export type Truth = ReturnType<RunningSimulator['records']>[number];

/** A client's view of its call. */
export type ClientView = {
  readonly tag: string;
  /**
   * Characters of text in the request: with the dialect they identify the call in the books if the client never
   * received its id.
   */
  readonly inputCharacters: number;
  readonly dialect: string;
  readonly callId: string | undefined;
  readonly status: number;
  /** True if the transport ended properly with the dialect's own end, or with a whole reply. */
  readonly complete: boolean;
  /** True if the client itself disconnected. */
  readonly left: boolean;
  /** The times at which it had received how much of the text, for an incomplete stream. */
  readonly shown?: readonly ShownText[];
};

const priceBook = createPriceBook({ book: loadShippedPriceBook() });

/** The cost of a usage at the list prices of a row. */
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

/** The usage of the upstream's model, by its own plan. */
export function plannedUsage(truth: Pick<Truth, 'plannedUsage'>): Usage {
  const planned = truth.plannedUsage;
  if (planned === undefined) return {};
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = planned;
  const written = planned.cacheLifetime === '1h' ? { cacheWrite1hTokens: cacheWriteTokens } : { cacheWrite5mTokens: cacheWriteTokens };
  return { inputTokens, cacheReadTokens, ...written, outputTokens };
}

/**
 * The tolerance of estimates in tokens: the rules of the estimate and of the upstream round differently and process
 * different strings.
 */
type Tolerance = { readonly inputTokens: number; readonly outputTokens: number };

const estimateTolerance: Tolerance = { inputTokens: 24, outputTokens: 8 };

/**
 * The highest permitted cost of a cut call: its input and the output that the upstream emitted, with the tolerance of
 * an estimate.
 */
export function priceBound(entry: CallEntry, truth: Truth, tolerance: Tolerance = estimateTolerance): bigint {
  const { cacheReadTokens = 0, inputTokens = 0, ...rest } = plannedUsage(truth);
  // If the cached tokens come only with the final usage, a call that is cut before it is booked as if nothing had been
  // cached.
  const isCacheKnown = entry.usage.cacheReadTokens !== undefined;
  return priceOf(entry, {
    ...rest,
    ...(isCacheKnown ? { cacheReadTokens } : {}),
    inputTokens: inputTokens + (isCacheKnown ? 0 : cacheReadTokens) + tolerance.inputTokens,
    outputTokens: truth.emittedTokens + tolerance.outputTokens,
  });
}

/** Total input and output of a usage, including cached tokens. */
function totals(usage: Usage): { readonly input: number; readonly output: number } {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, outputTokens = 0 } = usage;
  return { input: inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens, output: outputTokens };
}

/** Whether a row has exactly the usage of the upstream's model. */
export function isExact(entry: CallEntry, truth: Truth): boolean {
  const planned = plannedUsage(truth);
  const [booked, used] = [totals(entry.usage), totals(planned)];
  return (
    !entry.estimated &&
    booked.input === used.input &&
    booked.output === used.output &&
    (secondPriceOf(entry, planned) ?? entry.charge.amountNanoUsd) === entry.charge.amountNanoUsd &&
    (entry.usage.cacheReadTokens ?? 0) === (planned.cacheReadTokens ?? 0) &&
    entry.charge.amountNanoUsd === priceOf(entry, planned)
  );
}

export type AuditOptions = {
  readonly entries: readonly CallEntry[];
  readonly truths: readonly Truth[];
  readonly clients: readonly ClientView[];
  /**
   * Output tokens that may be uncharged for a stream of a killed process. If absent, the bound comes from the times at
   * which its client received text, because the machine may suspend any process while the upstream continues.
   */
  readonly lostTokensMax?: number;
  /**
   * Whether there were no other callers: then each row is one of these clients' calls, and each amount is computed
   * twice.
   */
  readonly isWhole?: boolean;
};

export type Audit = {
  /** Every problem of the books, one sentence each. */
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Uncharged output tokens of each lost call. */
  readonly shortfalls: readonly number[];
  /** Streams that were lost after some of their text was certainly in the books. */
  readonly witnessed: number;
};

/**
 * Compares the books with the truth: every call that reached the upstream has exactly one row, and every row without a
 * call is free. A completely received reply is booked exactly, a cut one costs at most the emitted output, and every
 * amount follows from its own lines.
 */
export function auditBooks(options: AuditOptions): Audit {
  const problems: string[] = [];
  const counts: Record<string, number> = {};
  const shortfalls: number[] = [];
  let witnessed = 0;
  const { calls, unclaimed } = matchCalls(options, problems);
  for (const { client, attempts, entry } of calls) {
    const truth = chargedAttempt(attempts, entry);
    if (truth === undefined) {
      if (client.complete) problems.push(`call ${client.tag}: its client has a whole reply that no upstream sent`);
      if (entry !== undefined && entry.charge.amountNanoUsd !== 0n)
        problems.push(`row ${entry.callId}: charged, but never reached the upstream`);
      continue;
    }
    if (entry === undefined) {
      problems.push(`${describe(client, truth)}: no row, although it reached the upstream`);
      continue;
    }
    problems.push(...checkAttempts(attempts, truth, entry).map((problem) => `${describe(client, truth)}: ${problem}`));
    const kind = client.complete ? 'complete' : entry.end;
    counts[kind] = (counts[kind] ?? 0) + 1;
    const found = client.complete ? checkComplete(entry, truth) : checkBroken(entry, truth, options.lostTokensMax, shortfalls);
    const noted = notedFor(client, truth, options);
    if (entry.end === 'lost' && noted > 0) witnessed += 1;
    problems.push(
      ...[...found, ...checkNoted(entry, noted)].map(
        (problem) => `${describe(client, truth)}, row ${entry.callId} (${entry.end}): ${problem}`,
      ),
    );
  }
  for (const entry of options.entries) problems.push(...checkRow(entry, options.isWhole === true));
  for (const entry of unclaimed) {
    if (entry.charge.amountNanoUsd !== 0n) problems.push(`row ${entry.callId}: charged, but never reached the upstream`);
    else if (options.isWhole === true) problems.push(`row ${entry.callId}: belongs to no call of a client`);
  }
  return { problems, counts: { ...counts, rows: options.entries.length, reached: options.truths.length }, shortfalls, witnessed };
}

function describe(client: ClientView, truth: Truth): string {
  return `call ${client.tag} (${client.dialect}${truth.isStream ? ', stream' : ''}, upstream ${truth.ending}, client ${client.complete ? 'complete' : client.left ? 'left' : 'broken'})`;
}

/** Matching records: a call of a client, its requests at the upstream in their order, and its row. */
type MatchedCall = { readonly client: ClientView; readonly attempts: readonly Truth[]; readonly entry: CallEntry | undefined };

/** Matches calls one to one: each request and each row belongs to exactly one call. */
function matchCalls(
  { entries, truths, clients }: AuditOptions,
  problems: string[],
): { readonly calls: readonly MatchedCall[]; readonly unclaimed: readonly CallEntry[] } {
  const attempts = Map.groupBy(truths, ({ tag }) => tag);
  const tags = new Set<string | undefined>(clients.map(({ tag }) => tag));
  if (tags.size < clients.length) problems.push(`${clients.length - tags.size} calls have the tag of another one`);
  for (const tag of attempts.keys()) if (!tags.has(tag)) problems.push(`call ${tag} reached the upstream, but no client made it`);
  const byId = new Map<string, CallEntry>();
  for (const entry of entries) {
    if (byId.has(entry.callId)) problems.push(`row ${entry.callId}: there twice`);
    byId.set(entry.callId, entry);
  }
  const claimed = new Set<string>();
  const claim = (entry: CallEntry | undefined): CallEntry | undefined => {
    if (entry === undefined) return undefined;
    if (claimed.has(entry.callId)) problems.push(`row ${entry.callId} belongs to two calls`);
    claimed.add(entry.callId);
    return entry;
  };
  const found = new Map<ClientView, CallEntry | undefined>();
  for (const client of clients) if (client.callId !== undefined) found.set(client, claim(byId.get(client.callId)));
  // A client that never received an id is identified by the length of its request, among the rows without another
  // owner.
  const sizeOf = ({ dialect, inputCharacters }: Pick<CallEntry, 'dialect' | 'inputCharacters'>): string => `${dialect} ${inputCharacters}`;
  const left = Map.groupBy(
    [...byId.values()].filter(({ callId }) => !claimed.has(callId)),
    sizeOf,
  );
  for (const client of clients) {
    if (client.callId !== undefined) continue;
    const same = left.get(sizeOf(client)) ?? [];
    if (same.length > 1) problems.push(`${same.length} rows for the one call of ${sizeOf(client)} characters`);
    found.set(client, claim(same[0]));
  }
  return {
    calls: clients.map((client) => ({ client, attempts: attempts.get(client.tag) ?? [], entry: found.get(client) })),
    unclaimed: [...byId.values()].filter(({ callId }) => !claimed.has(callId)),
  };
}

/** The request of a row: the one that it names, or the last. */
function chargedAttempt(attempts: readonly Truth[], entry: CallEntry | undefined): Truth | undefined {
  return attempts.find(({ requestId }) => requestId === entry?.upstreamRequestId) ?? attempts.at(-1);
}

/** A row names a request of its own call, and no other request of the call has output that its vendor bills. */
function checkAttempts(attempts: readonly Truth[], charged: Truth, { callId, upstreamRequestId }: CallEntry): readonly string[] {
  const foreign = upstreamRequestId !== undefined && upstreamRequestId !== charged.requestId;
  return [
    ...(foreign ? [`row ${callId} belongs to upstream request ${upstreamRequestId}, not ${charged.requestId}`] : []),
    ...attempts
      .filter((attempt) => attempt !== charged && attempt.emittedTokens > 0)
      .map(({ requestId }) => `upstream request ${requestId} also sent a reply, for which no call is charged`),
  ];
}

function checkComplete(entry: CallEntry, truth: Truth): readonly string[] {
  if (entry.end !== 'finished') return [`its client has the whole reply, but it is booked as ${entry.end}`];
  if (isExact(entry, truth)) return [];
  return [`booked ${JSON.stringify(entry.usage)} for ${entry.charge.amountNanoUsd}, truth is ${JSON.stringify(plannedUsage(truth))}`];
}

function checkBroken(entry: CallEntry, truth: Truth, lostTokensMax: number | undefined, shortfalls: number[]): readonly string[] {
  const problems: string[] = [];
  const bound = priceBound(entry, truth);
  const amount = entry.charge.amountNanoUsd;
  if (entry.end === 'finished') {
    // Its last bytes never reached the client, but the upstream had sent everything.
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
    // Hidden reasoning is known only from the usage at the end.
    const hidden = entry.usage.reasoningTokens === undefined ? (truth.plannedUsage?.reasoningTokens ?? 0) : 0;
    const shortfall = truth.emittedTokens - hidden - (entry.usage.outputTokens ?? 0);
    shortfalls.push(shortfall);
    if (lostTokensMax !== undefined && shortfall > lostTokensMax)
      problems.push(`lost ${shortfall} of ${truth.emittedTokens} emitted tokens`);
  }
  return problems;
}

/**
 * Output tokens that must be in the books of a call whose gateway was killed, by the times at which its client received
 * text.
 */
function notedFor({ shown }: ClientView, { emissions }: Truth, { lostTokensMax }: AuditOptions): number {
  return shown === undefined || lostTokensMax !== undefined ? 0 : notedTokensMin(shown, emissions);
}

function checkNoted({ end, usage }: CallEntry, noted: number): readonly string[] {
  if (end !== 'lost' || (usage.outputTokens ?? 0) >= noted) return [];
  return [`booked ${usage.outputTokens ?? 0} output tokens, but its client had had ${noted} for longer than the recording interval`];
}

/** The properties of every correct row. */
function checkRow(entry: CallEntry, isPricedTwice: boolean): readonly string[] {
  const problems: string[] = [];
  const amount = recomputeAmount(entry.charge.lines);
  if (amount !== entry.charge.amountNanoUsd)
    problems.push(`row ${entry.callId}: its lines add up to ${amount}, not ${entry.charge.amountNanoUsd}`);
  if (priceOf(entry, entry.usage) !== entry.charge.amountNanoUsd)
    problems.push(`row ${entry.callId}: its usage costs ${priceOf(entry, entry.usage)}, not ${amount}`);
  const second = secondPriceOf(entry, entry.usage);
  if (second !== undefined && second !== amount)
    problems.push(`row ${entry.callId}: a second calculator computes ${second}, not ${amount}`);
  if (second === undefined && isPricedTwice && amount !== 0n)
    problems.push(`row ${entry.callId}: the second calculator has no price for ${entry.upstreamModel} of ${entry.vendor}`);
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

/** Compares the sums of `/bill/stats` with those of the rows. Returns the differences. */
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
