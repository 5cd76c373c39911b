import assert from 'node:assert/strict';

import type { RunningSimulator } from 'weir-simulator';

import { eventually } from '../support/http.ts';
import type { SimulatedWeir } from '../support/start-simulated-weir.ts';
import { readBooks, type Totals } from './seen-usage.ts';

type CallRecord = ReturnType<RunningSimulator['records']>[number];

/** Beside other tests; that it takes 200 ms at most is measured in faults/leaving.timing. */
const noticedWithinMs = 8000;

/** Waits for the vendor's record of a call whose client is gone; it must say so. */
export async function findLeftCall({ simulator }: SimulatedWeir, tag: string, leftAtMs: number): Promise<CallRecord> {
  const find = (): CallRecord | undefined => simulator.records().find((record) => record.tag === tag);
  const record = await eventually(find, (found) => found !== undefined && found.ending !== 'open');
  assert.equal(record?.ending, 'client-closed');
  const afterMs = (record.endedAtMs ?? Infinity) - leftAtMs;
  assert.ok(afterMs < noticedWithinMs, `noticed after ${afterMs} ms`);
  return record;
}

export type LeftStream = {
  readonly tag: string;
  /** A model that nothing else of the suite asks. */
  readonly model: string;
  /** Characters that had arrived when the client left. */
  readonly characters: number;
  readonly leftAtMs: number;
};

/** A client that leaves a stream is noticed by the vendor, and pays for what it got and for nothing that was never written. */
export async function assertLeft(
  running: SimulatedWeir,
  { tag, model, characters, leftAtMs }: LeftStream,
): Promise<{ readonly record: CallRecord; readonly booked: Totals }> {
  const record = await findLeftCall(running, tag, leftAtMs);
  const books = await eventually(
    () => readBooks(running.weir),
    (found) => found[model] !== undefined,
  );
  const booked = books[model];
  assert.equal(booked?.calls, 1);
  assert.ok(booked.output >= Math.floor(characters / 4), 'all that arrived is booked');
  assert.ok(booked.output <= record.emittedTokens + 1, 'nothing that was not written is booked');
  return { record, booked };
}
