import { randomBytes } from 'node:crypto';

import type { CallbackStore, Delivery } from '../callback-store.ts';
import { type CallbackVault, createCallbackVault } from '../callback-vault.ts';
import { type CallbackSenderOptions, createCallbackSender } from '../create-callback-sender.ts';
import type { SendLoop } from '../create-send-loop.ts';
import { createEndDelivery } from '../create-event.ts';
import { createFakeCallbackStore } from './fake-callback-store.ts';

export type SenderBench = {
  readonly store: CallbackStore;
  readonly vault: CallbackVault;
  readonly sender: SendLoop;
  readonly another: (options?: Partial<CallbackSenderOptions>) => SendLoop;
  readonly advance: (byMs: number) => void;
  readonly nowMs: () => number;
  /** Queues the end event of a video. */
  readonly queue: (url: string, subject?: string, user?: string) => Promise<void>;
  readonly only: () => Promise<Delivery>;
  readonly logged: unknown[];
};

export const userName = 'anna';

/** A sender for tests, on a store in memory and a clock that only tests advance. */
export function createSenderBench(options: Partial<CallbackSenderOptions> = {}): SenderBench {
  let nowMs = Date.UTC(2026, 10, 22);
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const store = createFakeCallbackStore();
  const vault = createCallbackVault({ store, key: randomBytes(32), randomBytes, clock });
  const logged: unknown[] = [];
  const log = (fields: unknown): void => void logged.push(fields);
  const another = (more: Partial<CallbackSenderOptions> = {}): SendLoop =>
    createCallbackSender({
      store,
      vault,
      clock,
      logger: { info: log, warn: log, error: log },
      random: () => 0.5,
      allowPrivate: () => true,
      timeoutMs: 20_000,
      ...options,
      ...more,
    });
  return {
    store,
    vault,
    sender: another(),
    another,
    logged,
    advance: (byMs) => {
      nowMs += byMs;
    },
    nowMs: () => nowMs,
    queue: (url, subject = 'video_1', user = userName) =>
      store.insertDeliveries([createEndDelivery(vault, { userName: user, subject, eventType: 'video.completed', url, nowMs })]),
    only: async () => {
      const [delivery] = await store.listDeliveries({ userName, limit: 1 });
      if (delivery === undefined) throw new Error('there is no delivery');
      return delivery;
    },
  };
}
