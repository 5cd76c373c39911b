import { type CallEntry, isBilled } from '../ledger/call-entry.ts';
import { type AccountKind, accountKindOf } from '../../inference/interfaces.ts';
import { dayIn, type UsageClass, usageClasses, type UsageCounts } from './vendor-usage.ts';

/** The possible causes of differences between a vendor's count and ours, as far as a row tells. */
export const signs = ['lost', 'estimated', 'interrupted', 'failed', 'failed attempt', 'over midnight'] as const;
export type Sign = (typeof signs)[number];

/** The usage that a row, or an attempt before it, adds to a model on a day. */
export type RowUsage = {
  readonly model: string;
  readonly day: string;
  readonly counts: Readonly<Record<UsageClass, number>>;
  readonly signs: readonly Sign[];
};

/** The account that is compared. */
export type ReconciledAccount = {
  /** The vendor's name in the ledger. */
  readonly vendor: string;
  /** Only this upstream of the configuration, if the export belongs to one of several accounts. */
  readonly upstream?: string;
  readonly timeZone: string;
  /** The export's name of a row's model; undefined if it has none. */
  readonly matchModel: (row: Pick<CallEntry, 'upstreamModel' | 'servedModel'>) => string | undefined;
};

/** The kind of a row, by the upstream's interface: vendors bill audio, images and videos separately from text. */
export function kindOfRow({ dialect, translation }: Pick<CallEntry, 'dialect' | 'translation'>): AccountKind {
  return accountKindOf(translation?.upstreamDialect ?? dialect);
}

/** Whether a row used the compared account. The use of the gateway's own tools did not. */
export function isOfAccount(entry: CallEntry, { vendor, upstream }: Pick<ReconciledAccount, 'vendor' | 'upstream'>): boolean {
  return entry.toolUsage === undefined && entry.vendor === vendor && (upstream === undefined || upstream === entry.upstream);
}

/** Zero for every class. */
export function noCounts(): Record<UsageClass, number> {
  return { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, web_searches: 0, requests: 0 };
}

/** Adds counts to sums; missing counts add nothing. */
export function addCounts(sums: Record<UsageClass, number>, counts: UsageCounts): void {
  for (const usageClass of usageClasses) sums[usageClass] += counts[usageClass] ?? 0;
}

/**
 * The usage of a row, and an empty one for each earlier attempt with a model of the export: the ledger has no usage of
 * such attempts, but the vendor may. Days are those of the call's acceptance. The use of the gateway's own tools is
 * omitted.
 */
export function usageOfRow(entry: CallEntry, account: ReconciledAccount): RowUsage[] {
  if (entry.toolUsage !== undefined) return [];
  const day = dayIn(account.timeZone, entry.acceptedAtMs);
  const isOurs = (upstream: string): boolean => account.upstream === undefined || account.upstream === upstream;
  const attempts = (entry.failedAttempts ?? []).flatMap(({ upstream, upstreamModel }): RowUsage[] => {
    const model = isOurs(upstream) ? account.matchModel({ upstreamModel }) : undefined;
    return model === undefined ? [] : [{ model, day, counts: noCounts(), signs: ['failed attempt'] }];
  });
  if (entry.vendor !== account.vendor || !isOurs(entry.upstream)) return attempts;
  const model = account.matchModel(entry) ?? entry.servedModel ?? entry.upstreamModel;
  return [{ model, day, counts: countsOf(entry), signs: signsOf(entry, account.timeZone) }, ...attempts];
}

function countsOf(entry: CallEntry): Record<UsageClass, number> {
  const { inputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens, webSearches } = entry.usage;
  return {
    input: inputTokens ?? 0,
    cache_read: cacheReadTokens ?? 0,
    cache_write_5m: cacheWrite5mTokens ?? 0,
    cache_write_1h: cacheWrite1hTokens ?? 0,
    output: outputTokens ?? 0,
    web_searches: webSearches ?? 0,
    requests: isBilled(entry) && entry.settlement === undefined ? 1 : 0,
  };
}

function signsOf({ end, estimated, acceptedAtMs, durationMs }: CallEntry, timeZone: string): Sign[] {
  const found: Record<Sign, boolean> = {
    lost: end === 'lost',
    estimated,
    interrupted: end === 'cut' || end === 'client-left',
    failed: end === 'failed',
    'failed attempt': false,
    'over midnight': dayIn(timeZone, acceptedAtMs) !== dayIn(timeZone, acceptedAtMs + durationMs),
  };
  return signs.filter((sign) => found[sign]);
}
