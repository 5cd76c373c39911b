import type { StoredResponse } from '../../../../../conversations/response-store.ts';
import { isRunning } from '../response-events.ts';
import type { BackgroundStore } from '../background-runs.ts';

/** Stored responses in memory, for tests. Leases expire, and writes can be made to fail. */
export class FakeStore implements BackgroundStore {
  readonly responses = new Map<string, StoredResponse>();
  readonly events = new Map<string, string[]>();
  readonly nowMs: () => number;
  /** Every write, in order. */
  readonly writes: string[] = [];
  isDown = false;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  #write(name: string): Promise<void> {
    if (this.isDown) return Promise.reject(new Error('the store is down'));
    this.writes.push(name);
    return Promise.resolve();
  }

  #find(userName: string, id: string): StoredResponse | undefined {
    const found = this.responses.get(id);
    return found?.userName === userName ? found : undefined;
  }

  async saveResponse(response: StoredResponse): Promise<boolean> {
    await this.#write(response.status);
    const found = this.#find(response.userName, response.id);
    if (found === undefined ? response.status !== 'queued' : !isRunning(found.status)) return false;
    this.responses.set(response.id, response);
    return true;
  }

  findResponse(userName: string, id: string): Promise<StoredResponse | undefined> {
    const found = this.#find(userName, id);
    const lapsed = found !== undefined && isRunning(found.status) && (found.leaseUntilMs ?? 0) <= this.nowMs();
    if (!lapsed) return Promise.resolve(found);
    const error = { code: 'server_error', message: 'The process that generated the response has ended.' };
    return Promise.resolve({ ...found, status: 'failed', response: { ...found.response, status: 'failed', error } });
  }

  async extendLease(userName: string, id: string, leaseUntilMs: number): Promise<boolean> {
    await this.#write('lease');
    const found = this.#find(userName, id);
    if (found === undefined || !isRunning(found.status)) return false;
    this.responses.set(id, { ...found, leaseUntilMs });
    return true;
  }

  async appendEvents(_userName: string, id: string, firstSequence: number, events: readonly string[]): Promise<void> {
    await this.#write(`events ${firstSequence}+${events.length}`);
    const stored = this.events.get(id) ?? [];
    stored.splice(firstSequence, events.length, ...events);
    this.events.set(id, stored);
  }

  readEvents(userName: string, id: string, after: number, limit: number): Promise<readonly string[]> {
    if (this.#find(userName, id) === undefined) return Promise.resolve([]);
    return Promise.resolve((this.events.get(id) ?? []).slice(after + 1, after + 1 + limit));
  }
}
