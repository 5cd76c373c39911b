import assert from 'node:assert/strict';

import type { RunningSimulator } from 'weir-simulator';

import { eventually } from '../support/http.ts';
import type { SimulatedWeir } from '../support/start-simulated-weir.ts';
import { readBooks, type Totals } from './seen-usage.ts';

type CallRecord = ReturnType<RunningSimulator['records']>[number];

/** Beside other tests; faults/leaving.timing measures that it takes at most 200 ms. */
const noticedWithinMs = 8000;

/** Waits for the vendor's record of a call whose client has disconnected; the record must say so. */
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
  /** A model that no other test of the suite uses. */
  readonly model: string;
  /** Characters that had arrived when the client disconnected. */
  readonly characters: number;
  readonly leftAtMs: number;
};

/**
 * The vendor notices a client that disconnects, and the client pays for the received output and for nothing that was
 * never written.
 */
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
  assert.ok(booked.output >= Math.floor(characters / 4), 'all output that arrived is booked');
  assert.ok(booked.output <= record.emittedTokens + 1, 'no output is booked that was not written');
  return { record, booked };
}
