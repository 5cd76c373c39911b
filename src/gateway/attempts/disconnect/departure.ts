import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { DrainSlots } from './drain-slots.ts';

/** That a client has left its call before the end, as the exchange saw it. */
export type Departure = {
  readonly policy: DisconnectPolicy;
  /** Characters of content that had been handed to the client's connection. */
  readonly deliveredCharacters: number;
};

/** What an exchange does when its client leaves. */
export type LeavingRule = {
  readonly policy: DisconnectPolicy;
  /** Where a reply is read on for which nobody waits; absent where there is no place for any. */
  readonly slots?: DrainSlots | undefined;
  /** Characters of content that have been handed to the client, where whoever takes the reply does not hand on all of it; absent: the exchange counts them. */
  readonly delivered?: (() => number) | undefined;
};
