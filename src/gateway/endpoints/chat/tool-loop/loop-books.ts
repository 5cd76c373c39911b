import type { PreparedCall } from '../incoming-call.ts';
import type { CallEntry, CallOpening } from '../../../../billing/ledger/call-entry.ts';
import { JournalUnavailableError } from '../../../../billing/journal/journal.ts';
import { settleTools } from '../../../../billing/metering/settle-tools.ts';
import { meterNames } from '../../../../inference/meters.ts';
import type { ToolUsage, Usage } from '../../../../inference/usage.ts';
import type { ChatServices } from '../chat-services.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/** What several rounds used together. A count that none reported stays unknown. */
export function sumUsage(usages: readonly Usage[]): Usage {
  const sum: { -readonly [Name in keyof Usage]: Usage[Name] } = {};
  for (const name of meterNames) {
    for (const usage of usages) {
      const count = usage[name];
      if (count !== undefined) sum[name] = (sum[name] ?? 0) + count;
    }
  }
  return sum;
}

/** What is to be booked of the tools that ran after one round. */
export type ToolWork = { readonly rowId: string; readonly usage: ToolUsage; readonly durationMs: number };

/**
 * Books what tools did as soon as they have done it, in a row of its own: it is exact whatever becomes of the next
 * round, and a process that dies after it has charged it.
 */
export function bookTools({ journal, logger }: ChatServices, known: PreparedCall, { rowId, usage, durationMs }: ToolWork): CallEntry {
  const { call, caller, facts, settings, acceptedAtMs } = known;
  const opening: CallOpening = {
    callId: rowId,
    parentCallId: call.callId,
    toolUsage: usage,
    acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
    keyName: caller.name,
    dialect: call.dialect.id,
    requestedModel: facts.requestedModel,
    upstream: 'gateway',
    vendor: 'gateway',
    upstreamModel: 'tools',
    stream: facts.stream,
    inputCharacters: 0,
    priceVersion: settings.routing.priceBook.version,
    ...known.credit?.describe(),
  };
  const entry = settleTools(opening, usage, settings.routing.priceBook, durationMs);
  try {
    journal.open(opening);
  } catch (error) {
    if (!(error instanceof JournalUnavailableError)) throw error;
    // The work is done: its entry is kept in memory until the disk takes it, as those of calls are.
    logger.warn({ callId: call.callId, err: error }, 'what tools did could not be written down before its entry');
  }
  known.credit?.charge(entry);
  journal.done(entry);
  return entry;
}

/** The rows of one call as the one entry that is told of it. Undefined where there is none. */
export function mergeEntries(entries: readonly CallEntry[], told: Pick<CallEntry, 'callId' | 'end' | 'durationMs'>): CallEntry | undefined {
  const models = entries.filter(({ toolUsage }) => toolUsage === undefined);
  const last = models.at(-1);
  if (last === undefined) return undefined;
  const { parentCallId: _parent, failedAttempts: _failed, firstByteMs: _first, disputed: _disputed, ...base } = last;
  const failedAttempts = models.flatMap((entry) => entry.failedAttempts ?? []);
  const firstByteMs = models[0]?.firstByteMs;
  const disputed = models.find((entry) => entry.disputed !== undefined)?.disputed;
  return {
    ...base,
    ...told,
    usage: sumUsage(models.map(({ usage }) => usage)),
    estimated: models.some(({ estimated }) => estimated),
    charge: {
      ...last.charge,
      amountNanoUsd: entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n),
      lines: entries.flatMap(({ charge }) => charge.lines),
    },
    ...(disputed === undefined ? {} : { disputed }),
    ...(failedAttempts.length === 0 ? {} : { failedAttempts }),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
  };
}

/** The targets with the one first that made an entry: what it keeps in its cache is cheaper there. */
export function answererFirst(targets: readonly Target[], { upstream, upstreamModel }: CallEntry): readonly Target[] {
  const answered = targets.find((target) => target.upstream.id === upstream && target.upstreamModel === upstreamModel);
  return answered === undefined ? targets : [answered, ...targets.filter((target) => target !== answered)];
}
