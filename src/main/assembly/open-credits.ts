import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createBookVerifier } from '../../billing/credits/book-verifier.ts';
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
 * The name under which the process of a journal slot leases money: the data directory's own, which a file in it keeps, and the slot's. It outlives the process, as the
 * journal does. Throws StartError when the file holds something else.
 */
export function readNodeId(dataDirectory: string, slot: string): string {
  const path = join(dataDirectory, nodeIdFile);
  const own = readIfThere(path) ?? createNodeId(path);
  if (!nodeIdPattern.test(own))
    throw new StartError(`${path} holds no name of a node: 16 hexadecimal digits; remove it, and another is made`);
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

/** The store as a node writes to it: what its calls cost, and what its videos hold, comes out of what the node has leased. */
export function storeOfNode(store: Store, nodeId: string): Store {
  return {
    ...store,
    appendEntries: (entries) => store.appendEntries(entries, nodeId),
    appendEncoded: (entries) => store.appendEncoded(entries, nodeId),
    insertTask: (task, lease, idempotency) => store.insertTask(task, lease, idempotency, nodeId),
  };
}

/** Opens the credit desk of a process, and has the books verified. Closed by `opened`: to be called after the journal was opened, so that it closes before. */
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
): Promise<RunningCreditDesk> {
  const { nodeId, store, journal, clock, logger, registry } = parts;
  const node = { nodeId, sessionId: randomBytes(8).toString('hex') };
  const desk = createCreditDesk({ store, node, clock, logger, ship: () => journal.drain(AbortSignal.timeout(shipMsMax)) });
  // Calls are served from the first moment on, also where the store is down: those with limits wait for it.
  await desk.tick();
  const verifier = createBookVerifier({ store, logger, freeze: desk.freeze, rows: verifyRows });
  const ticking = setInterval(() => void desk.tick(), tickMs).unref();
  const verifying = setInterval(() => void verifier.verifyNext(), verifyEveryMs).unref();
  opened.defer(async () => {
    clearInterval(ticking);
    clearInterval(verifying);
    await desk.close();
  });
  if (registry !== undefined) addCreditMetrics(registry, desk);
  return desk;
}

const nanoUsdPerUsd = 1e9;

function addCreditMetrics(registry: MetricRegistry, desk: RunningCreditDesk): void {
  const add = (name: string, help: string, type: 'gauge' | 'counter', read: (figures: ReturnType<typeof desk.figures>) => number): void =>
    registry.collected({ name, help, type, merge: 'sum', read: () => [{ labels: [], value: read(desk.figures()) }] });
  add(
    'weir_credits_held_usd',
    'What calls under way have reserved, in USD; once for each limit that it counts against.',
    'gauge',
    (each) => Number(each.held) / nanoUsdPerUsd,
  );
  add(
    'weir_credits_free_usd',
    'What is leased and not reserved, in USD; once for each limit.',
    'gauge',
    (each) => Number(each.free) / nanoUsdPerUsd,
  );
  add('weir_credits_waiting', 'Calls that wait for money.', 'gauge', (each) => each.waiting);
  add('weir_credits_overdrafts_total', 'Charges beyond what was held for them and leased.', 'counter', (each) => each.overdrafts);
  add(
    'weir_credits_overdraft_usd_total',
    'What those charges exceeded it by, in USD.',
    'counter',
    (each) => Number(each.overdraftNanoUsd) / nanoUsdPerUsd,
  );
}
