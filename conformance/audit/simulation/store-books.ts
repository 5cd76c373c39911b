import assert from 'node:assert/strict';

import { type Pot, potsOf } from '../../../src/billing/credits/pots.ts';
import type { Payer } from '../../../src/billing/credits/credit-desk.ts';
import { verifyStart } from '../../../src/billing/credits/credit-books.ts';
import type { CallEntry } from '../../../src/billing/ledger/call-entry.ts';
import type { EntrySummary } from '../../../src/billing/ledger/ledger-form.ts';
import type { BooksAtRest, WorldBooks } from '../../../src/billing/testing/simulation/world-books.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { joinEncoded } from '../../../src/store/operations/encoded-batch.ts';
import { unpackRows } from '../../../src/store/operations/packed-rows.ts';
import { createStoreOperations } from '../../../src/store/operations/store-operations.ts';
import { openStoreDatabase } from '../../../src/store/sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../../../src/store/sqlite/sqlite-database.ts';
import type { StoreOperations } from '../../../src/store/worker/store-protocol.ts';
import type { TaskStore } from '../../../src/tasks/task-store.ts';
import { changeAt } from '../../../src/audit/testing/test-change.ts';

const hourMs = 3_600_000;
const pageEntries = 10_000;

/** Runs one operation after the other, as the thread of a store does. */
function takeTurns(operations: StoreOperations): StoreOperations {
  let last: Promise<unknown> = Promise.resolve();
  return new Proxy(operations, {
    get: (target, name) => {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function') return operation;
      return (...parameters: unknown[]): Promise<unknown> => {
        const result = last.then(() => Reflect.apply(operation, target, parameters) as Promise<unknown>);
        last = result.catch(() => undefined);
        return result;
      };
    },
  });
}

/**
 * The real store on a database in memory. The processes of a world share it, and it uses the same statements as in
 * production.
 */
export class StoreBooks implements WorldBooks {
  readonly #connection = openStoreDatabase({ path: ':memory:', readOnly: false, busyTimeoutMs: 0 });
  readonly #operations = takeTurns(createStoreOperations(createSqliteDatabase(this.#connection)));
  readonly credits = this.#operations;
  readonly #clock: () => Clock;
  #payers: readonly Payer[] = [];
  #payments = 0;
  #shipped = 0;
  #booked = 0;
  /** Rows that were inserted an hour later than the row that they belong to. */
  late = 0;

  /** @param clock the world's clock, which is created after its books */
  constructor(clock: () => Clock) {
    this.#clock = clock;
  }

  async append(entries: readonly Uint8Array[], nodeId: string): Promise<number> {
    const booked = await this.#operations.appendBatch(joinEncoded(entries), nodeId);
    this.#shipped += entries.length;
    this.#booked += booked;
    if (booked > 0) for (const bytes of entries) this.#noteLate(bytes);
    return booked;
  }

  #noteLate(bytes: Uint8Array): void {
    const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.indexOf(0x0a)).toString();
    const [, acceptedAtMs] = JSON.parse(head) as EntrySummary;
    if (Math.floor(this.#clock().nowMs() / hourMs) > Math.floor(acceptedAtMs / hourMs)) this.late += 1;
  }

  async open(payers: readonly Payer[]): Promise<void> {
    this.#payers = payers;
    for (const { id, userName, limits, userLimits } of payers) {
      const user = await this.#operations.ensureUser({ id: `id-${userName}`, name: userName, createdAtMs: 1 }, changeAt());
      const key = { id, userId: user.id, userName, name: id, hint: 'abcd', createdAtMs: 1, strictTranslation: false, hash: `hash-${id}` };
      await this.#operations.insertApiKey(key, changeAt());
      await this.#operations.changeApiKeyLimits(id, limits ?? {}, changeAt());
      await this.#operations.changeUserLimits(userName, userLimits ?? {}, changeAt());
    }
  }

  async pay(userName: string, amountNanoUsd: bigint): Promise<void> {
    const transactionId = `top_up:${(this.#payments += 1)}`;
    const postedAtMs = this.#clock().nowMs();
    const payment = {
      transactionId,
      kind: 'top_up',
      owner: { level: 'user', userName },
      amountNanoUsd,
      against: 'deposits',
      postedAtMs,
      actor: 'simulation',
    } as const;
    assert.equal((await this.#operations.postTransaction(payment, changeAt())).status, 'posted');
  }

  /** The store of video tasks, as the process of this name uses it. */
  tasksOf(nodeId: string): TaskStore {
    const operations = this.#operations;
    return {
      ...operations,
      insertTask: (task, lease, idempotency) => operations.insertTask(task, lease, idempotency, nodeId),
      recordProgress: async (progress) => (await operations.recordProgressGroup([progress]))[0] === true,
    };
  }

  /** Throws if the spent, leased and held amounts ever exceed a limit, whichever process has died. */
  async checkReserves(): Promise<void> {
    for (const payer of this.#payers) {
      const pots = potsOf(payer, this.#clock().nowMs());
      for (const { pot, limitNanoUsd: limit, spentNanoUsd, leasedNanoUsd, videosNanoUsd } of await this.#operations.readPots(pots))
        assert.ok(
          limit !== undefined && spentNanoUsd + leasedNanoUsd + videosNanoUsd <= limit,
          `${pot.id}: ${spentNanoUsd} spent, ${leasedNanoUsd} leased and ${videosNanoUsd} held of ${limit}`,
        );
    }
  }

  async leasedBy(nodeId: string): Promise<bigint> {
    const own = (await this.#operations.listLeases()).filter((lease) => lease.nodeId === nodeId);
    return own.reduce((sum, { leasedNanoUsd }) => sum + leasedNanoUsd, 0n);
  }

  async atRest(): Promise<BooksAtRest> {
    const operations = this.#operations;
    await this.#verify();
    const entries = await this.entries();
    return {
      rows: new Map(entries.map(({ charge, ...row }) => [row.callId, { ...row, amountNanoUsd: charge.amountNanoUsd }])),
      readPot: async (pot: Pot) => {
        const [report] = await operations.readPots([pot]);
        assert.ok(report);
        return { spent: report.spentNanoUsd, reserved: report.leasedNanoUsd + report.videosNanoUsd };
      },
      balanceOf: async (userName) =>
        (await operations.readBalances({ owner: { level: 'user', userName }, limit: 1 }))[0]?.balanceNanoUsd ?? 0n,
      statistics: { queryStatistics: async (query) => unpackRows(await operations.sumUsage(query)) },
      repeated: this.#shipped - this.#booked,
    };
  }

  /** Every row of the ledger. */
  async entries(): Promise<readonly CallEntry[]> {
    const entries: CallEntry[] = [];
    for (let before: string | undefined; ; before = entries.at(-1)?.callId) {
      const page = await this.#operations.listEntries({ limit: pageEntries, ...(before === undefined ? {} : { before }) });
      entries.push(...page);
      if (page.length < pageEntries) return entries;
    }
  }

  /** The double-entry books add up, as `weir credits verify` computes it. */
  async #verify(): Promise<void> {
    for (let cursor = verifyStart; ;) {
      const { problems, next } = await this.#operations.verifyBooks({ cursor, limit: pageEntries });
      assert.deepEqual(problems, []);
      if (next === undefined) return;
      cursor = next;
    }
  }

  close(): void {
    this.#connection.close();
  }
}
