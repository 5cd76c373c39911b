import assert from 'node:assert/strict';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { compareStatistics, plannedUsage, type Truth } from '../support/audit.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { startChaosProxy, type Trouble } from '../support/chaos-proxy.ts';
import { type ChaosProxyProcess, startChaosProxyProcess } from '../support/chaos-proxy-process.ts';
import { eventually } from '../support/http.ts';
import { arrayInterface } from '../support/interfaces.ts';
import { type OpenCall, openCall, type ReceivedReply } from '../support/open-call.ts';
import { neverOverloaded, upstreamKey } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { assertErrorEvent, type Mode, modesInTurn } from './fault-bench.ts';
import { concerns, type FaultRow } from './fault-rows.ts';

type Vendor = keyof RunningSimulator['addresses'];

const vendorOf: Readonly<Record<Mode['api']['dialect'], Vendor>> = {
  'anthropic-messages': 'anthropic',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  'gemini-generate-content': 'gemini',
};

/** The second target of a call: of the same vendor, or of another by translation. */
export type Fallback = 'same' | 'translated';

const otherVendor: Readonly<Record<Vendor, Vendor>> = { anthropic: 'openai', openai: 'gemini', gemini: 'anthropic', xai: 'anthropic' };

/** One call of the table: how the first target fails, the form of the request, and the second target. */
export type FaultCase = { readonly row: FaultRow; readonly mode: Mode; readonly fallback: Fallback };

export function casesOf(rows: readonly FaultRow[], modes: readonly Mode[], fallbacks: readonly Fallback[]): readonly FaultCase[] {
  return rows.flatMap((row) =>
    modes
      .filter((mode) => concerns(row, mode, mode.api === arrayInterface))
      .flatMap((mode) => fallbacks.map((fallback) => ({ row, mode, fallback }))),
  );
}

/** Each row in its modes in turn, with a second target of the same vendor. */
export function casesInTurn(rows: readonly FaultRow[], modes: readonly Mode[]): readonly FaultCase[] {
  return rows.flatMap((row, at) => {
    const all = casesOf([row], modes, ['same']);
    const kept = modesInTurn(
      all.map(({ mode }) => mode),
      at,
    );
    return all.filter(({ mode }) => kept.includes(mode));
  });
}

export type Seen = {
  readonly reply: ReceivedReply;
  readonly entry: CallEntry;
  /** Each simulated vendor's record of the call. */
  readonly first: readonly Truth[];
  readonly second: readonly Truth[];
};

/** A Weir whose every model has two targets, of which the first fails in its own way. */
export type TwoTargets = {
  readonly weir: ServedWeir;
  readonly ledger: Ledger;
  readonly open: (which: FaultCase) => { readonly tag: string; readonly call: OpenCall };
  readonly run: (which: FaultCase) => Promise<Seen>;
  /** Waits until the first target has a call. */
  readonly reached: (tag: string) => Promise<void>;
  /** Each simulated vendor's record of a call, once all of it has ended there. */
  readonly truthsOf: (tag: string) => Promise<Pick<Seen, 'first' | 'second'>>;
  readonly assertSound: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const modelOf = ({ row, mode, fallback }: FaultCase): string =>
  `${row.id}-${fallback}-${mode.title}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** A hundred thousandth of a dollar per token of any kind: amounts are then counts. */
const price = { input: '1', output: '1' };
const nanoUsdPerToken = 1000n;

/**
 * @param cases all cases that will run: each has a model of its own, and so a health of its own
 * @param ownTimeouts `timeouts` of weir.yaml that differ from those of the table
 */
export async function startTwoTargets(
  cases: readonly FaultCase[],
  ownTimeouts: Readonly<Record<string, number>> = {},
): Promise<TwoTargets> {
  const [first, second] = [await startSimulator({ seed: 'first' }), await startSimulator({ seed: 'second' })];
  const places = await openPlaces();
  const upstreams: Record<string, object> = {};
  const models: Record<string, object> = {};
  for (const which of cases) {
    const { row, mode, fallback } = which;
    const name = modelOf(which);
    const vendor = vendorOf[mode.api.dialect];
    const other = fallback === 'same' ? vendor : otherVendor[vendor];
    const id = row.aboutCredential === true ? `a-${name}`.slice(0, 64) : `a-${row.id}-${vendor}`;
    const baseUrl = places.baseUrl(first.addresses[vendor], row.place);
    upstreams[id] = { vendor, baseUrl, apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
    // The calls that a fallback takes over are limited per upstream, and the table is not an outage, so each row has a
    // second target of its own.
    const fallbackId = `b-${row.id}-${other}`;
    upstreams[fallbackId] = {
      vendor: other,
      baseUrl: second.addresses[other],
      apiKey: upstreamKey,
      forwardHeaders: ['x-simulator-tag', 'x-simulator-output-tokens', 'x-simulator-pace'],
    };
    models[name] = {
      targets: [
        { upstream: id, model: name },
        { upstream: fallbackId, model: name },
      ],
      price,
    };
  }
  // Correct replies must not take longer either, even on a busy or stalled machine.
  const timeouts = { connectMs: 3000, firstByteMs: 7000, idleMs: 7000, ...ownTimeouts };
  const limits = { eventBytesMax: 1_000_000, replyBytesMax: 1_000_000 };
  // The retried failures here are late, too, and the client must not notice them.
  const retries = { holdOpeningMs: 60_000 };
  const weir = await serveWeir({ config: JSON.stringify({ retries, overload: neverOverloaded, upstreams, models, timeouts, limits }) });
  const ledger = await openLedger(weir.dataDirectory);
  let lastTag = 0;
  const open: TwoTargets['open'] = (which) => {
    const { row, mode } = which;
    const { api, stream } = mode;
    const tag = `two-${(lastTag += 1)}`;
    const model = modelOf(which);
    const call = openCall(`${weir.gatewayUrl}${api.path(model, stream)}`, {
      headers: {
        authorization: `Bearer ${weir.apiKey}`,
        ...api.headers,
        'x-simulator-tag': tag,
        'x-simulator-output-tokens': '120',
        ...(row.fault === undefined ? {} : { 'x-simulator-fault': row.fault }),
        ...Object.fromEntries(Object.entries(row.steer ?? {}).map(([name, value]) => [`x-simulator-${name}`, value])),
      },
      body: JSON.stringify({ ...api.body(model, 'Hello there', stream), ...row.body?.[api.dialect] }),
      limitMs: 60_000,
    });
    return { tag, call };
  };
  const reached: TwoTargets['reached'] = async (tag) =>
    void (await eventually(
      () => first.records().some((record) => record.tag === tag),
      (isThere) => isThere,
    ));
  const truthsOf: TwoTargets['truthsOf'] = async (tag) => {
    const of = (simulator: RunningSimulator): readonly Truth[] => simulator.records().filter((record) => record.tag === tag);
    await eventually(
      () => [...of(first), ...of(second)].filter(({ ending }) => ending === 'open').length,
      (open) => open === 0,
    );
    return { first: of(first), second: of(second) };
  };
  const run = async (which: FaultCase): Promise<Seen> => {
    const { tag, call } = open(which);
    const reply = await call.done;
    const entry = await ledger.row(String(reply.headers['x-weir-request-id']));
    return { reply, entry, ...(await truthsOf(tag)) };
  };
  return {
    weir,
    ledger,
    open,
    run,
    reached,
    truthsOf,
    assertSound: async () => {
      const differences = async () => compareStatistics(weir.monitorUrl, weir.billingToken, await ledger.all());
      await eventually(differences, (found) => found.length === 0);
      const output = weir.output();
      assert.doesNotMatch(output, /unhandled|uncaught|failed inside the gateway|TypeError|RangeError/i);
      assert.ok(!output.includes(upstreamKey), 'the upstream key was printed');
    },
    [Symbol.asyncDispose]: async () => {
      await ledger.close();
      await weir[Symbol.asyncDispose]();
      await Promise.all([first.close(), second.close(), places.close()]);
    },
  };
}

/** Addresses at which no vendor answers, each in its own way. */
async function openPlaces(): Promise<{
  readonly baseUrl: (address: string, place: FaultRow['place']) => string;
  readonly close: () => Promise<void>;
}> {
  // A port that the system does not assign to a program that asks for any.
  const nobody = 9;
  const open = async (trouble: Trouble) => {
    const proxy = await startChaosProxy(nobody);
    await proxy.set(trouble);
    return proxy;
  };
  const vanished: ChaosProxyProcess = await startChaosProxyProcess(nobody);
  await vanished.vanish();
  const resetting = await open({ type: 'reset-on-connect' });
  const silent = await open({ type: 'stall', afterBytes: 0 });
  const ports = {
    nobody,
    vanished: vanished.port,
    'plain-behind-tls': resetting.port,
    'reset-on-connect': resetting.port,
    silent: silent.port,
  };
  return {
    baseUrl: (address, place) => {
      if (place === undefined) return address;
      const url = new URL(address);
      if (place === 'plain-behind-tls') url.protocol = 'https:';
      else url.port = String(ports[place]);
      return url.href;
    },
    close: async () => {
      for (const proxy of [vanished, resetting, silent]) await proxy[Symbol.asyncDispose]();
    },
  };
}

const count = (text: string, pattern: RegExp): number => text.match(new RegExp(pattern, 'gm'))?.length ?? 0;
const distinct = (text: string, pattern: RegExp): number => new Set(Array.from(text.matchAll(pattern), ([, value]) => value)).size;

/** Asserts that a reply is one reply: opened once, with one id, and ended once. */
function assertOneReply({ api, stream }: Mode, { text }: ReceivedReply): void {
  if (!stream) return;
  switch (api.dialect) {
    case 'anthropic-messages':
      assert.equal(count(text, /^event: message_start$/), 1, 'opened once');
      assert.equal(count(text, /^event: message_stop$/), 1, 'ended once');
      return;
    case 'openai-responses':
      assert.equal(count(text, /^event: response\.created$/), 1, 'opened once');
      assert.equal(count(text, /^event: response\.completed$/), 1, 'ended once');
      return;
    case 'openai-chat':
      assert.equal(distinct(text, /^data: \{"id":\s*"([^"]*)"/gm), 1, 'one id');
      assert.equal(count(text, /^data: \[DONE\]$/), 1, 'ended once');
      return;
    case 'gemini-generate-content':
      assert.equal(distinct(text, /"responseId":\s*"([^"]*)"/g), 1, 'one id');
      assert.equal(count(text, /"finishReason"/), 1, 'ended once');
  }
}

function assertExact(entry: CallEntry, truth: Truth): void {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, outputTokens = 0 } = plannedUsage(truth);
  const tokens = inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens + outputTokens;
  assert.equal(entry.estimated, false);
  assert.equal(entry.charge.amountNanoUsd, BigInt(tokens) * nanoUsdPerToken);
}

/** The first target failed before any content: the client gets only the second's reply, and pays once. */
export function assertInvisible({ row, mode, fallback }: FaultCase, { reply, entry, first, second }: Seen): void {
  assert.equal(reply.status, 200, reply.text.slice(0, 500));
  assert.equal(reply.end, 'complete');
  if (mode.stream) {
    assert.match(reply.text, mode.api.terminal);
    assert.doesNotMatch(reply.text, mode.api.errorEvent);
  } else assert.equal(mode.api.errorType(JSON.parse(reply.text)), undefined);
  if (mode.api === arrayInterface) assert.ok(Array.isArray(JSON.parse(reply.text)));
  assertOneReply(mode, reply);
  assert.equal(reply.headers['retry-after'], undefined, 'no retry advice of the first target');
  assert.ok(!reply.text.includes('Simulated inner failure'));
  assert.ok(first.length <= 3, `${first.length} attempts at the first target`);
  if (row.place === undefined) assert.ok(first.length >= 1, 'the first target was called');
  assert.equal(second.length, 1, 'the second target was called once');
  const [answered] = second;
  assert.ok(answered);
  assert.equal(answered.ending, 'completed');
  assert.equal(entry.end, 'finished');
  assert.match(entry.upstream, /^b-/);
  if (entry.upstreamRequestId !== undefined) assert.equal(entry.upstreamRequestId, answered.requestId);
  assert.equal(entry.translation !== undefined, fallback === 'translated');
  const failed = entry.failedAttempts ?? [];
  assert.ok(
    failed.length >= 1 && failed.every(({ upstream, errorCode }) => upstream.startsWith('a-') && errorCode !== ''),
    'each attempt is in the row',
  );
  if (row.place === undefined) assert.equal(failed.length, first.length);
  assertExact(entry, answered);
}

/**
 * The first target failed after content: one error event, no completion mark, no second attempt, and a charge for the
 * delivered content.
 */
export function assertHonest({ row, mode }: FaultCase, { reply, entry, first, second }: Seen): void {
  // The vendor's own error event may be passed on unchanged.
  const isOwn = first[0]?.fault === 'error-event';
  if (!isOwn) assertErrorEvent(mode, reply);
  assert.equal(reply.status, 200);
  assert.equal(reply.end, 'complete');
  assert.doesNotMatch(reply.text, mode.api.terminal);
  assert.match(reply.text, /"error"|"response\.failed"/);
  if (!isOwn) assert.equal(count(reply.text, mode.api.errorEvent), 1, 'one error event');
  if (row.shows !== undefined) assert.match(reply.text, row.shows);
  assert.deepEqual([first.length, second.length], [1, 0], 'no attempt after content');
  const [answered] = first;
  assert.ok(answered);
  assert.equal(entry.failedAttempts, undefined);
  assert.equal(entry.end, 'cut');
  assert.equal(entry.estimated, true);
  assert.ok(entry.charge.amountNanoUsd > 0n, 'content was delivered, so it is not free');
  const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0 } = plannedUsage(answered);
  // The tolerance of estimates in tokens: their rules and the upstream's round differently.
  const tokensMax = inputTokens + cacheReadTokens + cacheWrite5mTokens + answered.emittedTokens + 32;
  assert.ok(entry.charge.amountNanoUsd <= BigInt(tokensMax) * nanoUsdPerToken, `${entry.charge.amountNanoUsd} for ${tokensMax} tokens`);
}

/** The caller's own mistake: the error is passed on, the call is free, and no other target is called. */
export function assertRefused(which: FaultCase, seen: Seen): void {
  assertToldOnce(which, seen, /^4\d\d$/);
}

/** An answer that cannot be accepted: the client gets an error, the call is free, and no other target is called. */
export function assertTooLarge(which: FaultCase, seen: Seen): void {
  assertToldOnce(which, seen, /^5\d\d$/);
}

function assertToldOnce({ mode }: FaultCase, { reply, entry, first, second }: Seen, status: RegExp): void {
  assert.match(String(reply.status), status, reply.text.slice(0, 500));
  assert.doesNotMatch(reply.text, mode.api.terminal);
  assert.deepEqual([first.length, second.length], [1, 0]);
  assert.equal(entry.end, 'failed');
  assert.equal(entry.charge.amountNanoUsd, 0n);
}
