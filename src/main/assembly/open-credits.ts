import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { type BookVerifier, createBookVerifier } from '../../billing/credits/book-verifier.ts';
import { createCreditDesk, type RunningCreditDesk } from '../../billing/credits/create-credit-desk.ts';
import type { Journal } from '../../billing/journal/journal.ts';
import type { Clock } from '../../platform/clock.ts';
import { createFileOnce } from '../../platform/create-file-once.ts';
import type { Logger } from '../../platform/log.ts';
import type { MetricRegistry } from '../../platform/metrics/metric-registry.ts';
import type { Store } from '../../store/store.ts';
import { StartError } from '../environment.ts';

const nodeIdFile = 'node-id';
const nodeIdPattern = /^[0-9a-f]{16}$/;
const tickMs = 250;
const verifyEveryMs = 60_000;
/** Rows of the books that are verified each minute. */
const verifyRows = 2000;
const shipMsMax = 5000;

/**
 * The id under which the process of a journal slot leases credit: the id of the data directory, from a file in it, and
 * the slot. It outlives the process, as the journal does. Throws StartError if the file is invalid.
 */
export function readNodeId(dataDirectory: string, slot: string): string {
  const path = join(dataDirectory, nodeIdFile);
  const own = readIfThere(path) ?? createNodeId(path);
  if (!nodeIdPattern.test(own))
    throw new StartError(`${path} must contain the id of a node (16 hexadecimal digits); delete it, and a new one is created`);
  return `${own}/${slot}`;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** If several workers create an id at once, one wins and all use its id. */
function createNodeId(path: string): string {
  createFileOnce(path, `${randomBytes(8).toString('hex')}\n`);
  return readFileSync(path, 'utf8').trim();
}

/** The store for a node. Charges of calls and holds of videos use the leases of the node. */
export function storeOfNode(store: Store, nodeId: string): Store {
  return {
    ...store,
    appendEntries: (entries) => store.appendEntries(entries, nodeId),
    appendEncoded: (entries) => store.appendEncoded(entries, nodeId),
    insertTask: (task, lease, idempotency) => store.insertTask(task, lease, idempotency, nodeId),
  };
}

/**
 * Opens the credit desk of a process, and verifies the books periodically. `opened` closes it. Call it after the
 * journal was opened, so that it closes first.
 */
export async function openCredits(
  parts: {
    readonly nodeId: string;
    readonly store: Store;
    readonly journal: Pick<Journal, 'drain'>;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly registry: MetricRegistry | undefined;
  },
  opened: AsyncDisposableStack,
): Promise<{ readonly desk: RunningCreditDesk; readonly books: BookVerifier['verdict'] }> {
  const { nodeId, store, journal, clock, logger, registry } = parts;
  const node = { nodeId, sessionId: randomBytes(8).toString('hex') };
  const desk = createCreditDesk({ store, node, clock, logger, ship: () => journal.drain(AbortSignal.timeout(shipMsMax)) });
  // Calls are served at once, also during an outage of the store. Calls with limits wait for it.
  await desk.tick();
  const verifier = createBookVerifier({ store, clock, nodeId, logger, freeze: desk.freeze, rows: verifyRows });
  const ticking = setInterval(() => void desk.tick(), tickMs).unref();
  const verifying = setInterval(() => void verifier.verifyNext(), verifyEveryMs).unref();
  opened.defer(async () => {
    clearInterval(ticking);
    clearInterval(verifying);
    await desk.close();
  });
  if (registry !== undefined) addCreditMetrics(registry, desk);
  return { desk, books: verifier.verdict };
}

const nanoUsdPerUsd = 1e9;

function addCreditMetrics(registry: MetricRegistry, desk: RunningCreditDesk): void {
  const add = (name: string, help: string, type: 'gauge' | 'counter', read: (figures: ReturnType<typeof desk.figures>) => number): void =>
    registry.collected({ name, help, type, merge: 'sum', read: () => [{ labels: [], value: read(desk.figures()) }] });
  add(
    'weir_credits_held_usd',
    'Amount that running calls hold, in USD; counted once for each limit.',
    'gauge',
    (each) => Number(each.held) / nanoUsdPerUsd,
  );
  add(
    'weir_credits_free_usd',
    'Leased amount that is not held, in USD; counted once for each limit.',
    'gauge',
    (each) => Number(each.free) / nanoUsdPerUsd,
  );
  add('weir_credits_waiting', 'Calls that wait for credit.', 'gauge', (each) => each.waiting);
  add('weir_credits_overdrafts_total', 'Charges that exceeded their hold and the lease.', 'counter', (each) => each.overdrafts);
  add(
    'weir_credits_overdraft_usd_total',
    'Amount by which charges exceeded their hold and the lease, in USD.',
    'counter',
    (each) => Number(each.overdraftNanoUsd) / nanoUsdPerUsd,
  );
}
