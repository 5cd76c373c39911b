import type { Clock } from '../../platform/clock.ts';
import type { CallbackStore, Delivery } from './callback-store.ts';
import type { CallbackVault } from './callback-vault.ts';
import { createEndDelivery, hashName, watchedEventType } from './create-event.ts';
import { readCallbackUrl } from './read-callback-url.ts';

/** What users and the parts of the gateway do with callbacks. Everything is asked for with the user it belongs to. */
export type Callbacks = {
  /** Checks an address that a request names. @throws GatewayError `invalid_value` */
  readonly readUrl: (value: unknown, param: string) => string;
  /** Newest first, at most `limit`. */
  readonly list: (page: { readonly userName: string; readonly subject?: string; readonly limit: number }) => Promise<readonly Delivery[]>;
  /** Has an event sent again, under its id. False where the user has none of that id. */
  readonly sendAgain: (userName: string, id: string) => Promise<boolean>;
  /** The secret that signs a user's events, made when there is none. Rejects with CallbackKeyError. */
  readonly findSecret: (userName: string) => Promise<string>;
  /** Makes a new one and resolves with it. */
  readonly rotateSecret: (userName: string) => Promise<string>;
  /** Sees to it that the end of a response is told, also when the process that generates it dies. */
  readonly watchResponse: (watched: { readonly userName: string; readonly id: string; readonly url: string }) => Promise<void>;
  /** Tells that a response has ended. However often and by whom it is told, it is one event. */
  readonly responseEnded: (ended: {
    readonly userName: string;
    readonly id: string;
    readonly url: string;
    readonly status: string;
  }) => Promise<void>;
};

export function createCallbacks(options: {
  readonly store: CallbackStore;
  readonly vault: CallbackVault;
  readonly clock: Clock;
  /** Whether receivers may stand in private networks and be spoken to over http. */
  readonly allowPrivate: () => boolean;
}): Callbacks {
  const { store, vault, clock, allowPrivate } = options;
  return {
    readUrl: (value, param) => readCallbackUrl(value, { param, allowPrivate: allowPrivate() }),
    list: async ({ limit, ...page }) => {
      // Beside each event of a response lies what watched for its end.
      const deliveries = await store.listDeliveries({ ...page, limit: 2 * limit });
      return deliveries.filter(({ eventType }) => eventType !== watchedEventType).slice(0, limit);
    },
    sendAgain: async (userName, id) => id.startsWith('msg_') && (await store.redeliver({ userName, id, nowMs: clock.nowMs() })),
    findSecret: async (userName) => (await vault.secretsOf(userName))[0],
    rotateSecret: vault.rotate,
    watchResponse: async ({ userName, id: subject, url }) => {
      const id = `watch_${hashName(userName, subject)}`;
      const sealedUrl = vault.sealUrl(url, id);
      const watch = { id, userName, subject, eventType: watchedEventType, sealedUrl, payload: '', createdAtMs: clock.nowMs() };
      await store.insertDeliveries([watch]);
    },
    responseEnded: async ({ userName, id, url, status }) => {
      const happened = { userName, subject: id, eventType: `response.${status}`, url, nowMs: clock.nowMs() };
      await store.insertDeliveries([createEndDelivery(vault, happened)]);
    },
  };
}
