import { GatewayError } from '../inference/gateway-error.ts';
import type { ConversationStore, ConversationWrite, WriteOutcome } from './conversation-store.ts';

/**
 * Sends writes to the store. Writes that arrive during a commit share the next one. Rejects with GatewayError
 * `responses_unavailable` if a write fails.
 */
export type WriteQueue = (write: ConversationWrite) => Promise<Exclude<WriteOutcome, 'failed'>>;

type Waiting = {
  readonly write: ConversationWrite;
  readonly bytes: number;
  readonly settled: PromiseWithResolvers<Exclude<WriteOutcome, 'failed'>>;
};

/** The most writes of a transaction, so that later writes do not wait long. A single write may be larger. */
const batchWritesMax = 256;
const batchBytesMax = 8 * 1024 * 1024;
/** A store that does not answer must not fill the memory. */
const waitingBytesMax = 256 * 1024 * 1024;

export function createWriteQueue(store: Pick<ConversationStore, 'writeConversations'>): WriteQueue {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let running = false;

  function take(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const each of waiting) {
      if (count > 0 && (count === batchWritesMax || bytes + each.bytes > batchBytesMax)) break;
      bytes += each.bytes;
      count += 1;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingBytes -= bytes;
    return batch;
  }

  async function run(): Promise<void> {
    running = true;
    // Writes of the same turn of the event loop share a commit.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = take();
      try {
        const outcomes = await store.writeConversations(batch.map(({ write }) => write));
        for (const [index, { settled }] of batch.entries()) {
          const outcome = outcomes[index] ?? 'failed';
          if (outcome === 'failed') settled.reject(new GatewayError('responses_unavailable', 'the store refused the object'));
          else settled.resolve(outcome);
        }
      } catch (error) {
        for (const { settled } of batch) settled.reject(error);
      }
    }
    running = false;
  }

  return (write) => {
    const bytes = sizeOf(write);
    if (waitingBytes > 0 && waitingBytes + bytes > waitingBytesMax) {
      return Promise.reject(
        new GatewayError('responses_unavailable', 'too many writes wait for the store; retry', { retryAfterSeconds: 1 }),
      );
    }
    const settled = Promise.withResolvers<Exclude<WriteOutcome, 'failed'>>();
    waiting.push({ write, bytes, settled });
    waitingBytes += bytes;
    if (!running) void run();
    return settled.promise;
  };
}

/** Approximate bytes of a write besides its sealed bytes. */
const overheadBytes = 200;

function sizeOf(write: ConversationWrite): number {
  if (write.type === 'put-response') {
    const { head, input, output } = write.response;
    return overheadBytes * (1 + write.items.length) + head.length + input.length + output.length;
  }
  const items = 'items' in write ? write.items : [];
  const alone = write.type === 'append-events' ? write.sealed.length : 0;
  return items.reduce((sum, { sealed }) => sum + sealed.length + overheadBytes, overheadBytes + alone);
}
