import type { EntrySummary } from '../../ledger/ledger-form.ts';
import type { Payer } from '../../credits/credit-desk.ts';
import { MemoryCreditStore } from '../../credits/testing/memory-credit-store.ts';
import { type CountedCall, createMemoryStatisticsStore } from '../../statistics/testing/memory-statistics-store.ts';
import type { BooksAtRest, WorldBooks } from './world-books.ts';

/** A row of the ledger. */
type BookedCall = CountedCall & { readonly callId: string; readonly keyId: string };

const lineEnd = 0x0a;

/** An in-memory model of the shared store: ledger, credits and statistics, each row once and in one transaction. */
export class SimulatedBooks implements WorldBooks {
  readonly credits = new MemoryCreditStore();
  readonly #rows = new Map<string, BookedCall>();
  readonly #billed: string[] = [];
  #repeated = 0;

  append(entries: readonly Uint8Array[], nodeId: string): number {
    const before = this.#rows.size;
    for (const bytes of entries) {
      const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.indexOf(lineEnd)).toString();
      const summary = JSON.parse(head) as EntrySummary;
      const [callId, acceptedAtMs, userName, tokenName, modelName, amount, billed, promptTokens, completionTokens] = summary;
      if (this.#rows.has(callId)) {
        this.#repeated += 1;
        continue;
      }
      const [, , , , , , , , , cacheTokens, cacheCreationTokens, useTimeMs, , keyId = '', heldPots = 0] = summary;
      const amountNanoUsd = BigInt(amount);
      this.credits.append([{ callId, userName, keyId, acceptedAtMs, amountNanoUsd, heldPots }], nodeId);
      const counts = { promptTokens, completionTokens, cacheTokens, cacheCreationTokens, useTimeMs, amountNanoUsd };
      this.#rows.set(callId, { callId, keyId, acceptedAtMs, userName, tokenName, modelName, ...counts });
      if (billed !== 0) this.#billed.push(callId);
    }
    return this.#rows.size - before;
  }

  open(payers: readonly Payer[]): void {
    for (const { id, userName, limits, userLimits } of payers) {
      this.credits.setLimits(`user:${userName}`, userLimits);
      this.credits.setLimits(`key:${id}`, limits);
    }
  }

  pay(userName: string, nanoUsd: bigint): void {
    this.credits.pay(userName, nanoUsd);
  }

  leasedBy(nodeId: string): bigint {
    return this.credits.leasedBy(nodeId);
  }

  atRest(): BooksAtRest {
    const { credits } = this;
    return {
      rows: this.#rows,
      readPot: ({ id }) => ({ spent: credits.spentOf(id), reserved: credits.leasedOf(id) }),
      balanceOf: (userName) => credits.balanceOf(userName),
      statistics: createMemoryStatisticsStore(this.#billed.flatMap((callId) => this.#rows.get(callId) ?? [])),
      repeated: this.#repeated,
    };
  }

  close(): void {
    this.#rows.clear();
  }
}
