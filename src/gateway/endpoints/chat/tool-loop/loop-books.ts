import { teamOf } from '../../../admission/team-of.ts';
import type { PreparedCall } from '../incoming-call.ts';
import type { CallEntry, CallOpening } from '../../../../billing/ledger/call-entry.ts';
import { JournalUnavailableError } from '../../../../billing/journal/journal.ts';
import { settleTools } from '../../../../billing/metering/settle-tools.ts';
import { meterNames } from '../../../../inference/meters.ts';
import type { ToolUsage, Usage, UsageReport } from '../../../../inference/usage.ts';
import type { ChatServices } from '../chat-services.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { tagsOf } from '../../../attempts/books/tags-of.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';

/** The usage of several rounds together. A count that none of them reported stays unknown. */
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

/** The tool uses after one round, for the books. */
export type ToolWork = { readonly rowId: string; readonly usage: ToolUsage; readonly durationMs: number };

/**
 * Books the uses of tools as soon as they are done, in a row of their own. The row is exact however the next round
 * ends, and is charged even if the process dies.
 */
export function bookTools({ journal, logger }: ChatServices, prepared: PreparedCall, { rowId, usage, durationMs }: ToolWork): CallEntry {
  const { call, caller, facts, settings, acceptedAtMs } = prepared;
  const opening: CallOpening = {
    callId: rowId,
    parentCallId: call.callId,
    toolUsage: usage,
    acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
    keyName: caller.name,
    ...teamOf(caller),
    dialect: call.dialect.id,
    requestedModel: facts.requestedModel,
    upstream: 'gateway',
    vendor: 'gateway',
    upstreamModel: 'tools',
    stream: facts.stream,
    inputCharacters: 0,
    ...tagsOf(caller),
    priceVersion: settings.routing.priceBook.version,
    ...prepared.credit?.describe(),
  };
  const entry = settleTools(opening, usage, settings.routing.priceBook, durationMs);
  try {
    journal.open(opening);
  } catch (error) {
    if (!(error instanceof JournalUnavailableError)) throw error;
    // The work is done, so its entry stays in memory until the disk accepts it, like those of calls.
    logger.warn({ callId: call.callId, err: error }, 'opening the journal record of tool uses failed');
  }
  prepared.credit?.charge(entry);
  journal.done(entry);
  return entry;
}

/** Merges the rows of one call into the entry for its report. Undefined if there is none. */
export function mergeEntries(entries: readonly CallEntry[], call: Pick<CallEntry, 'callId' | 'end' | 'durationMs'>): CallEntry | undefined {
  const models = entries.filter(({ toolUsage }) => toolUsage === undefined);
  const last = models.at(-1);
  if (last === undefined) return undefined;
  const { parentCallId: _parent, failedAttempts: _failed, firstByteMs: _first, disputed: _disputed, ...base } = last;
  const failedAttempts = models.flatMap((entry) => entry.failedAttempts ?? []);
  const firstByteMs = models[0]?.firstByteMs;
  const disputed = models.find((entry) => entry.disputed !== undefined)?.disputed;
  return {
    ...base,
    ...call,
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

/** Moves the target of an entry to the front, because its cache makes the next round cheaper there. */
export function answererFirst(targets: readonly Target[], { upstream, upstreamModel }: CallEntry): readonly Target[] {
  const answered = targets.find((target) => target.upstream.id === upstream && target.upstreamModel === upstreamModel);
  return answered === undefined ? targets : [answered, ...targets.filter((target) => target !== answered)];
}

type UsageEvent = Extract<InferenceEvent, { type: 'usage' }>;

/** The usage of the rounds so far, for the client. The books are separate and decide the charge. */
export class LoopUsage {
  readonly #rounds: UsageReport[] = [];
  #current: UsageReport | undefined;

  /** Begins a round. The usage of the one before is final. */
  beginRound(): void {
    if (this.#current !== undefined) this.#rounds.push(this.#current);
    this.#current = undefined;
  }

  /** Reads the report of a round, and returns the usage of all rounds together. */
  read(report: UsageReport): UsageEvent {
    this.#current = report;
    return this.#eventOf(sumUsage(this.#reports().map(({ usage }) => usage)));
  }

  /** The usage at the end of the call. @param usage the charged usage */
  end(usage: Usage, serviceTier: string | undefined): UsageEvent {
    return this.#eventOf(usage, serviceTier);
  }

  #reports(): readonly UsageReport[] {
    return this.#current === undefined ? this.#rounds : [...this.#rounds, this.#current];
  }

  #eventOf(usage: Usage, serviceTier?: string): UsageEvent {
    const reports = this.#reports();
    const toolPromptTokens = reports.reduce((sum, report) => sum + (report.toolPromptTokens ?? 0), 0);
    const isSplit = reports.length > 0 && reports.every(({ splitsInput }) => splitsInput === true);
    return {
      type: 'usage',
      usageReport: {
        usage,
        raw: undefined,
        trustworthy: true,
        ...(toolPromptTokens === 0 ? {} : { toolPromptTokens }),
        ...(isSplit ? { splitsInput: true } : {}),
        ...(serviceTier === undefined ? {} : { serviceTier }),
      },
    };
  }
}
