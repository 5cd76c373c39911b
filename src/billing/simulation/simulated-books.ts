import type { EntrySummary } from '../ledger/ledger-form.ts';
import { MemoryCreditStore } from '../credits/memory-credit-store.ts';
import { type CountedCall, createMemoryStatisticsStore } from '../statistics/memory-statistics-store.ts';

/** A row as the ledger has it. */
export type BookedCall = CountedCall & { readonly callId: string; readonly keyId: string };

const lineEnd = 0x0a;

/** The shared store of simulated processes: ledger, credits and statistics, each row in one transaction and once. */
export class SimulatedBooks {
  readonly credits = new MemoryCreditStore();
  readonly rows = new Map<string, BookedCall>();
  /** Rows that were shipped again after they had been booked. */
  repeated = 0;

  /** Books entries as the journal ships them. Returns how many were new. */
  append(entries: readonly Uint8Array[], nodeId: string): number {
    const before = this.rows.size;
    for (const bytes of entries) {
      const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.indexOf(lineEnd)).toString();
      const summary = JSON.parse(head) as EntrySummary;
      const [callId, acceptedAtMs, userName, tokenName, modelName, amount, billed, promptTokens, completionTokens] = summary;
      if (this.rows.has(callId)) {
        this.repeated += 1;
        continue;
      }
      const [, , , , , , , , , cacheTokens, cacheCreationTokens, useTimeMs, , keyId = '', heldPots = 0] = summary;
      const amountNanoUsd = BigInt(amount);
      this.credits.append([{ callId, userName, keyId, acceptedAtMs, amountNanoUsd, heldPots }], nodeId);
      const counts = { promptTokens, completionTokens, cacheTokens, cacheCreationTokens, useTimeMs, amountNanoUsd };
      this.rows.set(callId, { callId, keyId, acceptedAtMs, userName, tokenName, modelName, ...counts });
      if (billed !== 0) this.#billed.push(callId);
    }
    return this.rows.size - before;
  }

  readonly #billed: string[] = [];

  /** Statistics of all that counts in them. */
  statistics(): ReturnType<typeof createMemoryStatisticsStore> {
    return createMemoryStatisticsStore(this.#billed.flatMap((callId) => this.rows.get(callId) ?? []));
  }
}
