import { join } from 'node:path';
import type { Logger } from '../../platform/log.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { encodeEntry } from '../ledger/entry-json.ts';
import type { JournalDisk } from './journal-disk.ts';
import { type JournalRecord, recordTypes, scanSegment, writtenPart } from './journal-record.ts';
import { segmentName } from './segment-name.ts';
import type { RecordPosition, SegmentWriter } from './segment-writer.ts';
import type { LostCallSettler, RecordedHead, RecordedProgress } from './settle-lost-call.ts';

/** The result of recovering the segments of the last process. */
export type RecoveredCounts = {
  readonly segments: number;
  readonly records: number;
  /** Calls with a complete entry, which is shipped, perhaps again. */
  readonly done: number;
  /**
   * Calls that were running when the process died: answered ones are charged, unanswered and failed ones cost nothing.
   */
  readonly lostAnswered: number;
  readonly lostUnanswered: number;
  readonly lostFailed: number;
  /** Answered calls that could not be settled: booked with amount 0 and `internal_error`, and logged. */
  readonly unsettled: number;
  /** Bytes at the end of the last segment that were not completely written, and were cut off. */
  readonly tornBytes: number;
  /** Segments with other damage. Their readable records are used; the files are kept under these names. */
  readonly quarantined: readonly string[];
};

type RecoveredCall = { readonly callId: string; readonly position: RecordPosition };

type Recovery = {
  readonly counts: RecoveredCounts;
  /** Every call to ship, with the position of its entry in the journal. */
  readonly calls: readonly RecoveredCall[];
};

export type RecoverOptions = {
  readonly disk: JournalDisk;
  readonly directory: string;
  readonly numbers: readonly number[];
  readonly writer: Pick<SegmentWriter, 'append' | 'flush'>;
  readonly settleLost: LostCallSettler;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
};

type CallState = {
  /** The latest attempt that any record belongs to: records of earlier ones are void. */
  attempt: number;
  opening?: CallOpening;
  head?: RecordedHead;
  progress?: RecordedProgress;
  /** The position of the entry in an undamaged segment. */
  position?: RecordPosition;
  /** The entry in a damaged segment. */
  rescued?: string;
};

type Found = { calls: Map<string, CallState>; records: number; tornBytes: number; damaged: number[] };

/**
 * Reads the segments of the last process and settles the calls that it died in. It can be interrupted anywhere and
 * repeated: every new entry is on the disk before a damaged segment is renamed, and a call with an entry is not settled
 * again.
 */
export async function recoverSegments(options: RecoverOptions): Promise<Recovery> {
  const found = readSegments(options);
  const tally = { done: 0, lostAnswered: 0, lostUnanswered: 0, lostFailed: 0, unsettled: 0 };
  const calls: RecoveredCall[] = [];
  for (const [callId, call] of found.calls) {
    const position = call.position ?? rewriteEntry(call, options, tally);
    if (position === undefined) continue;
    calls.push({ callId, position });
    if (call.position !== undefined || call.rescued !== undefined) tally.done += 1;
  }
  await options.writer.flush();
  const quarantined = found.damaged.map((number) => quarantine(number, options));
  const counts = { ...tally, segments: options.numbers.length, records: found.records, tornBytes: found.tornBytes, quarantined };
  return { counts, calls };
}

function readSegments({ disk, directory, numbers, logger }: RecoverOptions): Found {
  const found: Found = { calls: new Map(), records: 0, tornBytes: 0, damaged: [] };
  for (const number of numbers) {
    const path = join(directory, segmentName(number));
    const bytes = writtenPart(disk.read(path));
    const scan = scanSegment(bytes);
    const isLast = number === numbers.at(-1);
    const isWhole = scan.cleanBytes === bytes.length;
    if (!isWhole && isLast && !scan.damaged) {
      found.tornBytes = bytes.length - scan.cleanBytes;
      disk.truncate(path, scan.cleanBytes);
      logger.warn({ segment: number, tornBytes: found.tornBytes }, 'journal segment truncated after a torn write');
    } else if (!isWhole) {
      found.damaged.push(number);
    }
    found.records += scan.records.length;
    for (const record of scan.records) applyRecord(found, record, number);
  }
  return found;
}

/**
 * Records of one call may be in any order and repeated. A final entry always wins, a later attempt wins over an earlier
 * one, and within an attempt later reports are merged into earlier ones.
 */
function applyRecord({ calls, damaged }: Found, record: JournalRecord, segment: number): void {
  const { callId } = record.value as { readonly callId: string };
  const call = calls.get(callId) ?? { attempt: 1 };
  calls.set(callId, call);
  if (record.type === recordTypes.done) {
    if (damaged.includes(segment)) call.rescued = JSON.stringify(record.value);
    else call.position = { segment, offset: record.offset, length: record.length };
    return;
  }
  const attempt = attemptOf(record);
  // If the opening of the latest attempt is lost, an earlier one still gives the caller.
  if (attempt < call.attempt) {
    if (record.type === recordTypes.open) call.opening ??= record.value as CallOpening;
    return;
  }
  if (attempt > call.attempt) {
    call.attempt = attempt;
    delete call.head;
    delete call.progress;
  }
  switch (record.type) {
    case recordTypes.open:
      call.opening = record.value as CallOpening;
      return;
    case recordTypes.head:
      call.head = record.value as RecordedHead;
      return;
    case recordTypes.progress:
      call.progress = mergeProgress(call.progress, record.value as RecordedProgress);
      return;
  }
}

/** The number of the attempt that follows these, counted from 1. */
export function attemptAfter(failed: CallOpening['failedAttempts']): number {
  return (failed?.length ?? 0) + 1;
}

function attemptOf({ type, value }: JournalRecord): number {
  if (type === recordTypes.open) return attemptAfter((value as CallOpening).failedAttempts);
  return (value as { readonly attempt?: number }).attempt ?? 1;
}

function mergeProgress(earlier: RecordedProgress | undefined, later: RecordedProgress): RecordedProgress {
  const usage = { ...earlier?.usage, ...later.usage };
  return {
    ...((earlier?.usage ?? later.usage) !== undefined && { usage }),
    outputCharacters: Math.max(earlier?.outputCharacters ?? 0, later.outputCharacters),
    elapsedMs: Math.max(earlier?.elapsedMs ?? 0, later.elapsedMs),
  };
}

type LostTally = { lostAnswered: number; lostUnanswered: number; lostFailed: number; unsettled: number };

/** Writes the entry of a call that has none in an undamaged segment. Undefined if no opening gives the caller. */
function rewriteEntry(call: CallState, options: RecoverOptions, tally: LostTally): RecordPosition | undefined {
  if (call.rescued !== undefined) return options.writer.append(recordTypes.done, call.rescued);
  if (call.opening === undefined) return undefined;
  return options.writer.append(recordTypes.done, encodeEntry(settle(call.opening, call, options, tally)));
}

function settle(opening: CallOpening, call: CallState, { settleLost, logger }: RecoverOptions, tally: LostTally): CallEntry {
  try {
    const entry = settleLost(opening, call.head, call.progress);
    if (call.head === undefined) tally.lostUnanswered += 1;
    else if (entry.end === 'failed') tally.lostFailed += 1;
    else tally.lostAnswered += 1;
    return entry;
  } catch (error) {
    // A call that cannot be priced must not keep the gateway from starting, and must be in the ledger.
    logger.error({ err: error, callId: opening.callId }, 'lost call booked with amount 0');
    tally.unsettled += 1;
    const charge = { amountNanoUsd: 0n, lines: [] };
    return { ...opening, end: 'lost', usage: {}, estimated: true, durationMs: 0, errorCode: 'internal_error', charge };
  }
}

function quarantine(number: number, { disk, directory, logger }: RecoverOptions): string {
  const name = `${segmentName(number)}.corrupt`;
  disk.rename(join(directory, segmentName(number)), join(directory, name));
  logger.error({ segment: number, keptAs: name }, 'damaged journal segment quarantined');
  return name;
}
