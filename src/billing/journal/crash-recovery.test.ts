import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '../../platform/log.ts';
import { systemClock } from '../../platform/clock.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { createJournal } from './create-journal.ts';
import { encodeEntry, encodeOpening } from '../ledger/entry-json.ts';
import { decodeForLedger } from '../ledger/ledger-form.ts';
import { type RecordType, encodeRecord, recordTypes, scanSegment } from './journal-record.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import type { LostCallSettler } from './settle-lost-call.ts';

const path = '/journal/segment-0000000001.v1';

function opening(callId: string): CallOpening {
  return {
    callId,
    acceptedAtMs: 1,
    userName: 'u',
    keyId: 'k',
    keyName: 'n\u0001é',
    dialect: 'd',
    requestedModel: 'm',
    upstream: 'u',
    vendor: 'v',
    upstreamModel: 'm',
    stream: true,
    inputCharacters: 40,
    priceVersion: 'p',
  };
}

function finished(callId: string): CallEntry {
  const charge = { amountNanoUsd: 12_345_678_901_234_567n, lines: [] };
  return { ...opening(callId), end: 'finished', usage: { outputTokens: 5 }, estimated: false, durationMs: 3, charge };
}

/** Charges one nano-USD per delivered character, so that a row shows which progress was used. */
const settleLost: LostCallSettler = (call, head, progress) => ({
  ...call,
  end: 'lost',
  usage: {},
  estimated: head !== undefined,
  durationMs: 0,
  charge: { amountNanoUsd: head === undefined ? 0n : BigInt(progress?.outputCharacters ?? 0), lines: [] },
});

/** Starts a journal on the files after a crash, ships everything, and returns the rows and the recovered counts. */
async function recover(disk: MemoryJournalDisk) {
  const rows = new Map<string, CallEntry>();
  const shipped: string[] = [];
  const store = {
    appendEncoded: async (entries: readonly Uint8Array[]) => {
      for (const entry of entries.map((bytes) => decodeForLedger(bytes))) {
        shipped.push(entry.callId);
        rows.set(entry.callId, entry);
      }
      return entries.length;
    },
  };
  const before = disk.afterCrash('kill');
  // The disk in memory copies whole segments.
  const segmentBytesMax = 16_384;
  const options = { directory: '/journal', clock: systemClock, logger: silentLogger, settleLost, store, segmentBytesMax };
  const { journal, recovered } = await createJournal({ ...options, disk });
  const crashed = disk.afterCrash('power-loss');
  await journal.drain(AbortSignal.timeout(30_000));
  await journal.close();
  return { rows, shipped, recovered, crashed, before };
}

function diskWith(bytes: Buffer): MemoryJournalDisk {
  return new MemoryJournalDisk(new Map([[path, { bytes, syncedBytes: bytes.length }]]));
}

function record(type: RecordType, json: string): Buffer {
  const buffer = Buffer.alloc(4096);
  return buffer.subarray(0, encodeRecord(buffer, 0, type, json));
}

type Step = { readonly type: RecordType; readonly callId: string; readonly attempt?: number; readonly outputCharacters?: number };

const failedAttempt = { upstream: 'other', credential: 'other', upstreamModel: 'm', errorCode: 'upstream_unreachable', durationMs: 1 };

function encodeStep({ type, callId, attempt = 1, outputCharacters = 0 }: Step): Buffer {
  const numbered = attempt === 1 ? { callId } : { callId, attempt };
  if (type === recordTypes.open) {
    const failedAttempts = Array.from({ length: attempt - 1 }, () => failedAttempt);
    return record(type, encodeOpening(attempt === 1 ? opening(callId) : { ...opening(callId), failedAttempts }));
  }
  if (type === recordTypes.head) return record(type, JSON.stringify({ ...numbered, status: 200, elapsedMs: 1 }));
  if (type === recordTypes.progress) return record(type, JSON.stringify({ ...numbered, outputCharacters, elapsedMs: 2 }));
  return record(type, encodeEntry(finished(callId)));
}

/** The expected ledger for the undamaged records: one row for each call whose opening or end is known. */
function expectedRows(steps: readonly Step[]): Map<string, bigint> {
  const callIds = new Set(steps.filter(({ type }) => type === recordTypes.open || type === recordTypes.done).map(({ callId }) => callId));
  return new Map(
    [...callIds].map((callId) => {
      const own = steps.filter((step) => step.callId === callId);
      if (own.some(({ type }) => type === recordTypes.done)) return [callId, finished(callId).charge.amountNanoUsd];
      const latest = Math.max(...own.map(({ attempt = 1 }) => attempt));
      const last = own.filter(({ attempt = 1 }) => attempt === latest);
      if (!last.some(({ type }) => type === recordTypes.head)) return [callId, 0n];
      return [callId, BigInt(Math.max(0, ...last.map(({ outputCharacters = 0 }) => outputCharacters)))];
    }),
  );
}

function amounts(rows: Map<string, CallEntry>): Map<string, bigint> {
  return new Map([...rows].map(([callId, { charge }]) => [callId, charge.amountNanoUsd]));
}

describe('killed at every byte', () => {
  test('each call is settled exactly once, and a second start changes nothing', async () => {
    const steps: Step[] = [
      { type: recordTypes.open, callId: 'a' },
      { type: recordTypes.head, callId: 'a' },
      { type: recordTypes.open, callId: 'b' },
      { type: recordTypes.progress, callId: 'a', outputCharacters: 10 },
      { type: recordTypes.progress, callId: 'a', outputCharacters: 25 },
      { type: recordTypes.head, callId: 'b' },
      { type: recordTypes.done, callId: 'b' },
      { type: recordTypes.open, callId: 'c' },
      { type: recordTypes.done, callId: 'a' },
      { type: recordTypes.head, callId: 'c' },
      { type: recordTypes.progress, callId: 'c', outputCharacters: 30 },
      { type: recordTypes.open, callId: 'c', attempt: 2 },
      { type: recordTypes.head, callId: 'c', attempt: 2 },
      { type: recordTypes.progress, callId: 'c', attempt: 2, outputCharacters: 4 },
      { type: recordTypes.open, callId: 'c', attempt: 3 },
    ];
    const records = steps.map(encodeStep);
    const whole = Buffer.concat(records);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      let end = 0;
      const survived = steps.filter((_, index) => (end += records[index]?.length ?? 0) <= cut);
      const first = await recover(diskWith(Buffer.from(whole.subarray(0, cut))));
      assert.deepEqual(amounts(first.rows), expectedRows(survived), `cut at byte ${cut}`);
      assert.equal(first.shipped.length, first.rows.size, 'none twice');
      assert.deepEqual(first.recovered.quarantined, []);
      // The process dies again just after recovery: the same rows, and nothing else is lost.
      const second = await recover(first.crashed);
      assert.deepEqual(second.rows, first.rows);
      const lost = second.recovered.lostAnswered + second.recovered.lostUnanswered + second.recovered.lostFailed;
      assert.equal(lost, 0, 'a settled call is not settled again');
      assert.equal(second.recovered.tornBytes, 0);
    }
  });

  test('records in any order, some repeated, some damaged, give every known call once, and the final entry wins', async () => {
    const step = fc.record({
      type: fc.constantFrom(...Object.values(recordTypes)),
      callId: fc.constantFrom('a', 'b', 'c', 'd'),
      attempt: fc.integer({ min: 1, max: 3 }),
      outputCharacters: fc.nat(100),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.nat(), fc.boolean(), async (generated, at, damage) => {
      const steps = generated.map(({ type, callId, attempt, outputCharacters }) => {
        if (type === recordTypes.done) return { type, callId };
        return type === recordTypes.progress ? { type, callId, attempt, outputCharacters } : { type, callId, attempt };
      });
      const records = steps.map(encodeStep);
      const bytes = Buffer.concat(records);
      let end = 0;
      const offset = damage && bytes.length > 0 ? at % bytes.length : bytes.length;
      if (offset < bytes.length) bytes[offset] = (bytes[offset] ?? 0) ^ 0x40;
      const survived = steps.filter((_, index) => {
        const begin = end;
        end += records[index]?.length ?? 0;
        return offset < begin || offset >= end;
      });
      const first = await recover(diskWith(bytes));
      assert.deepEqual(amounts(first.rows), expectedRows(survived));
      assert.equal(first.shipped.length, first.rows.size);
      const second = await recover(first.crashed);
      assert.deepEqual(second.rows, first.rows);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

/**
 * Any UTF-16 code unit, lone surrogates included, or a character above them. The "binary" unit of the library takes a
 * second to set up.
 */
const anyUnit = fc.oneof(
  fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
  fc.integer({ min: 0x10000, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
);

describe('records', () => {
  test('a record is decoded with any text, and a scan finds exactly the written records', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyUnit }), { maxLength: 5 }), (texts) => {
        const bytes = Buffer.concat(texts.map((text) => record(recordTypes.progress, JSON.stringify({ callId: text }))));
        const scan = scanSegment(bytes);
        assert.deepEqual(
          scan.records.map(({ value }) => value),
          texts.map((text) => ({ callId: text })),
        );
        assert.equal(scan.cleanBytes, bytes.length);
      }),
      { numRuns: 100 },
    );
  });

  test('a changed type byte or length is detected', () => {
    const bytes = record(recordTypes.head, JSON.stringify({ callId: 'a' }));
    for (const at of [0, 3, 8]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      assert.equal(scanSegment(damaged).records.length, 0);
    }
  });

  test('a payload that contains the bytes of a record is not read as one', () => {
    const inner = record(recordTypes.done, encodeEntry(finished('forged'))).toString('latin1');
    const bytes = record(recordTypes.head, JSON.stringify({ callId: inner }));
    bytes[4] = (bytes[4] ?? 0) ^ 1;
    assert.equal(scanSegment(bytes).records.length, 0);
  });
});

describe('a real disk', () => {
  async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
    const parent = await mkdtemp(join(tmpdir(), 'weir-journal-'));
    try {
      await run(join(parent, 'journal'));
    } finally {
      await rm(parent, { recursive: true });
    }
  }

  async function open(directory: string, rows: Map<string, CallEntry>) {
    const store = {
      appendEncoded: async (entries: readonly Uint8Array[]) => {
        for (const entry of entries.map((bytes) => decodeForLedger(bytes))) rows.set(entry.callId, entry);
        return entries.length;
      },
    };
    return createJournal({ directory, store, clock: systemClock, logger: silentLogger, settleLost, shipIntervalMs: 1 });
  }

  test('files are private, a second journal is refused, and everything is released at the end', async () => {
    await withDirectory(async (directory) => {
      const rows = new Map<string, CallEntry>();
      const { journal } = await open(directory, rows);
      journal.open(opening('a'));
      journal.done(finished('a'));
      const name = (await readdir(directory)).find((file) => file.startsWith('segment-')) ?? '';
      assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600);
      assert.equal((await stat(directory)).mode & 0o777, 0o700);
      await assert.rejects(open(directory, rows), /another process is using/);
      await journal.drain(AbortSignal.timeout(30_000));
      await journal.close();
      assert.deepEqual(rows.get('a'), finished('a'));
      const again = await open(directory, rows);
      assert.equal(again.recovered.lostUnanswered, 0);
      await again.journal.close();
    });
  });

  test('a path that is not a directory fails the start and is named', async () => {
    await withDirectory(async (directory) => {
      await writeFile(directory, '');
      await assert.rejects(open(directory, new Map()), (error: Error) => error.message.includes(directory));
    });
  });

  /** Runs calls against a store that accepts nothing, and prints its progress, until it is killed. */
  const child = (directory: string): string => `
    import { writeSync } from 'node:fs';
    const at = (name) => new URL(name, ${JSON.stringify(import.meta.url)});
    const { createJournal } = await import(at('./create-journal.ts'));
    const { journal } = await createJournal({
      directory: ${JSON.stringify(directory)}, segmentBytesMax: 20_000,
      settleLost: (call) => ({ ...call, end: 'lost', usage: {}, estimated: true, durationMs: 0, charge: { amountNanoUsd: 3n, lines: [] } }),
      store: { appendEncoded: () => Promise.reject(new Error('down')) }, clock: { monotonicMs: () => 0 },
      logger: { warn: () => {}, error: () => {} },
    });
    const opening = ${JSON.stringify(opening(''))};
    for (let index = 0; ; index += 1) {
      const callId = process.pid + '-' + index;
      journal.open({ ...opening, callId });
      journal.head(callId, { status: 200 });
      writeSync(1, 'head ' + callId + '\\n');
      journal.progress(callId, { outputCharacters: 3 });
      if (index % 3 === 0) continue;
      journal.done({ ...opening, callId, end: 'finished', usage: {}, estimated: false, durationMs: 1, charge: { amountNanoUsd: 7n, lines: [] } });
      writeSync(1, 'done ' + callId + '\\n');
      if (index % 50 === 0) await new Promise(setImmediate);
    }`;

  async function runUntilKilled(directory: string, bytes: number): Promise<string[]> {
    const process = spawn(globalThis.process.execPath, ['--input-type=module', '-e', child(directory)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(process, 'exit');
    let output = '';
    for await (const chunk of process.stdout) {
      output += String(chunk);
      if (output.length > bytes) process.kill('SIGKILL');
    }
    await exited;
    return output.split('\n').slice(0, -1);
  }

  test('kill -9: every call with a written head is settled once, and finished calls are unchanged', { timeout: 120_000 }, async () => {
    await withDirectory(async (directory) => {
      const printed: string[] = [];
      for (const bytes of [1_000, 30_000]) printed.push(...(await runUntilKilled(directory, bytes)));
      assert.ok(printed.length > 100);
      const rows = new Map<string, CallEntry>();
      const { journal, recovered } = await open(directory, rows);
      await journal.drain(AbortSignal.timeout(30_000));
      await journal.close();
      assert.deepEqual(recovered.quarantined, []);
      for (const line of printed) {
        const [what, callId = ''] = line.split(' ');
        assert.ok(rows.has(callId), `${callId} is missing`);
        if (what === 'done') assert.equal(rows.get(callId)?.charge.amountNanoUsd, 7n);
      }
      // The calls of the first process were settled by the second, those of the second by this one. Both charge 3 for
      // calls in progress.
      for (const { callId, charge } of rows.values()) assert.ok([0n, 3n, 7n].includes(charge.amountNanoUsd), callId);
      assert.equal(recovered.unsettled, 0);
    });
  });
});
