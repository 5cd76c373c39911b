import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { PricingParameters, ToolUsage, Usage } from '../../inference/usage.ts';

/**
 * How a call ended. `finished`: the upstream completed its reply. `client-left`: the client went away and the upstream was stopped.
 * `cut`: the reply broke off after it had begun. `failed`: no reply was delivered; it costs nothing. `lost`: the process died during the call.
 */
export type CallEnd = 'finished' | 'client-left' | 'cut' | 'failed' | 'lost';

/**
 * An attempt that came to nothing before anything of its reply was delivered, so that another followed. It costs the client nothing; what the upstream
 * may charge for it is found by this record.
 */
export type FailedAttempt = {
  readonly upstream: string;
  /** Which of the upstream's credentials was used. */
  readonly credential: string;
  readonly upstreamModel: string;
  /** Status that the upstream answered with; absent when it never answered. */
  readonly upstreamStatus?: number;
  readonly upstreamRequestId?: string;
  readonly errorCode: string;
  readonly durationMs: number;
};

/** What is known of a call when it is admitted: the journal's OPEN record. Each attempt opens the call anew. */
export type CallOpening = {
  /** Also the request id that the client sees, and the primary key of the ledger row. */
  readonly callId: string;
  /** When the request was accepted. It decides the bucket and the prices. */
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly dialect: string;
  readonly requestedModel: string;
  readonly upstream: string;
  readonly vendor: string;
  readonly upstreamModel: string;
  readonly stream: boolean;
  readonly inputCharacters: number;
  /** Version of the price book that prices this call, pinned at admission. */
  readonly priceVersion: string;
  /** Set when client and upstream spoke different dialects: the upstream's, and what translating the request did besides carrying everything over. */
  readonly translation?: { readonly upstreamDialect: string; readonly notes: readonly TranslationNote[] };
  /** The attempts before this one, first to last. Absent at the first. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** Set when this is a part of another call: a further round of its loop, or what its tools did. Calls are counted without their parts. */
  readonly parentCallId?: string;
  /** Set in a row of tools that the gateway ran: what they did. Such a row has no upstream. */
  readonly toolUsage?: ToolUsage;
  /** What the price depends on besides what is counted. */
  readonly pricingParameters?: PricingParameters;
};

/** One line of a charge: a quantity, its unit price as an exact fraction, and the unrounded product. */
export type ChargeLine = {
  readonly meter: string;
  readonly quantity: number;
  /** Price in USD per `per` units, as a decimal string out of the price book. */
  readonly unitPrice: string;
  readonly per: number;
  /** Multipliers that applied, by name: `service_tier:flex` → "0.5". */
  readonly multipliers?: Readonly<Record<string, string>>;
};

export type Charge = {
  readonly amountNanoUsd: bigint;
  readonly lines: readonly ChargeLine[];
  /** Which price book entry priced it; absent when the model has no price, and then the amount is 0. */
  readonly priceId?: string;
};

/** A call's row in the ledger. Rows are only ever added. */
export type CallEntry = CallOpening & {
  readonly end: CallEnd;
  /** Status that the upstream answered with; absent when it never answered. */
  readonly upstreamStatus?: number;
  readonly upstreamRequestId?: string;
  readonly servedModel?: string;
  /** The vendor's id of a reply that the upstream keeps. Only this user may continue it. */
  readonly replyId?: string;
  readonly stopReason?: string;
  readonly serviceTier?: string;
  readonly errorCode?: string;
  /** What translating the reply left out or changed. */
  readonly replyNotes?: readonly TranslationNote[];
  readonly usage: Usage;
  readonly rawUsage?: unknown;
  /** True when any count is an estimate rather than the upstream's report. */
  readonly estimated: boolean;
  readonly durationMs: number;
  /** Milliseconds from acceptance to the first byte of content; absent when none came. */
  readonly firstByteMs?: number;
  readonly charge: Charge;
};

/** The meters of the statistics that one entry adds to: the contract's four counters, in which cache counts are parts of the prompt count. */
export type StatisticsCounts = {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cacheTokens: number;
  readonly cacheCreationTokens: number;
};

export function statisticsCounts(usage: Usage): StatisticsCounts {
  const cacheTokens = usage.cacheReadTokens ?? 0;
  const cacheCreationTokens = (usage.cacheWrite5mTokens ?? 0) + (usage.cacheWrite1hTokens ?? 0);
  return {
    // Characters that were read out are what a speech model has for a prompt.
    promptTokens: (usage.inputTokens ?? 0) + (usage.inputCharacters ?? 0) + cacheTokens + cacheCreationTokens,
    completionTokens: usage.outputTokens ?? 0,
    cacheTokens,
    cacheCreationTokens,
  };
}

/**
 * Whether a call counts in the statistics: only calls that an upstream answered and that delivered something do, and what tools did. A failed,
 * refused or never answered call costs nothing and counts nowhere.
 */
export function isBilled(entry: Pick<CallEntry, 'end' | 'upstreamStatus' | 'toolUsage'>): boolean {
  return entry.end !== 'failed' && (entry.upstreamStatus !== undefined || entry.toolUsage !== undefined);
}

/** How a row counts in the statistics: 0 nowhere, 1 as a call, 2 as a part of one, which adds to the sums and is no call of its own. */
export type Billing = 0 | 1 | 2;

export function billingOf(entry: Pick<CallEntry, 'end' | 'upstreamStatus' | 'toolUsage' | 'parentCallId'>): Billing {
  if (!isBilled(entry)) return 0;
  return entry.parentCallId === undefined ? 1 : 2;
}
