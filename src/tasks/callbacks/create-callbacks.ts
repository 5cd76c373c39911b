import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CallbackStore, Delivery } from './callback-store.ts';
import type { CallbackVault } from './callback-vault.ts';
import { createEndDelivery, hashName, watchedEventType } from './create-event.ts';
import { readCallbackUrl } from './read-callback-url.ts';

/** Operations on callbacks for users and for parts of the gateway. Every query includes the user. */
export type Callbacks = {
  /** Checks an address that a request names. @throws GatewayError `invalid_value` */
  readonly readUrl: (value: unknown, param: string) => string;
  /** Newest first, at most `limit`. */
  readonly list: (page: { readonly userName: string; readonly subject?: string; readonly limit: number }) => Promise<readonly Delivery[]>;
  /** Sends an event again under its id. False if the user has no such event. */
  readonly sendAgain: (userName: string, id: string, author: ChangeAuthor) => Promise<boolean>;
  /** The secret that signs a user's events, created at the first call. Rejects with CallbackKeyError. */
  readonly findSecret: (userName: string) => Promise<string>;
  /** Creates a new secret and resolves with it. */
  readonly rotateSecret: (userName: string, author: ChangeAuthor) => Promise<string>;
  /** Ensures that the end of a response is reported, also if its process dies. */
  readonly watchResponse: (watched: { readonly userName: string; readonly id: string; readonly url: string }) => Promise<void>;
  /** Reports the end of a response. Repeated reports are one event. */
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
  /** Whether receivers may be in private networks and speak http. */
  readonly allowPrivate: () => boolean;
}): Callbacks {
  const { store, vault, clock, allowPrivate } = options;
  return {
    readUrl: (value, param) => readCallbackUrl(value, { param, allowPrivate: allowPrivate() }),
    list: async ({ limit, ...page }) => {
      // Each event of a response has a watch row too, which is not listed.
      const deliveries = await store.listDeliveries({ ...page, limit: 2 * limit });
      return deliveries.filter(({ eventType }) => eventType !== watchedEventType).slice(0, limit);
    },
    sendAgain: async (userName, id, author) => {
      if (!id.startsWith('msg_')) return false;
      return await store.redeliver({ userName, id, change: { ...author, atMs: clock.nowMs() } });
    },
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
