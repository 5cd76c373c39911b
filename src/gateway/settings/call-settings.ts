import type { RateLimits } from '../../accounts/access-limits.ts';
import type { DisconnectPolicy } from '../../billing/ledger/call-entry.ts';
import type { ValidationMode } from '../../dialects/dialect-id.ts';
import type { AudioSettings } from './audio-settings.ts';
import type { CreditSettings } from './credit-settings.ts';
import type { GatewayLimits, GatewayTimeouts, RetrySettings } from './limits.ts';
import type { OverloadSettings } from './overload-settings.ts';
import type { PictureSettings } from './picture-settings.ts';
import type { ToolSettings } from './tool-settings.ts';
import type { VideoSettings } from './video-settings.ts';

/** Tells the addresses of reverse proxies whose word about their clients is taken. */
export type ProxyTest = (address: string) => boolean;

/**
 * What becomes of a reply that does not fit the schema its client asked for strictly. `off`: it is not looked at; `report`: it is an error; `repair`: the model
 * is asked once more, then it is an error. `auto`: `repair` for translated calls whose upstream does not hold its replies to the whole schema, else `off`.
 */
export type ReplyCheck = 'auto' | 'off' | 'report' | 'repair';

/** What a configuration decides for a call, besides its routes. Read once per call, so that a reload never changes a call under way. */
export type CallSettings = {
  readonly limits: GatewayLimits;
  readonly timeouts: GatewayTimeouts;
  readonly retries: RetrySettings;
  readonly validation: ValidationMode;
  readonly overload: OverloadSettings;
  /** For how many days what is stored is kept where a key says nothing of its own; 0: nothing is stored. */
  readonly responseRetentionDays: number;
  readonly videos: VideoSettings;
  /** Absent: the defaults. */
  readonly images?: PictureSettings;
  /** How holds are measured. Absent: the defaults. */
  readonly credits?: CreditSettings;
  /** What is done when a client leaves, for keys that say nothing of it. Absent: `abort`. */
  readonly disconnect?: DisconnectPolicy;
  /** Whether requests may name images, files and videos in private networks. Absent: no. */
  readonly allowsPrivateMedia?: boolean;
  /** Absent: the defaults. */
  readonly tools?: ToolSettings;
  /** Who judges content where no upstream of the model that was asked for does. Absent: nobody. */
  readonly moderations?: { readonly standIn: string };
  /** Whether replies are checked against the schemas that were asked for, for models that say nothing of it. Absent: `auto`. */
  readonly replyCheck?: ReplyCheck;
  /** Bounds of uploaded sound. Absent: the defaults. */
  readonly audio?: AudioSettings;
  /** What keys may use that have no limit of their own. */
  readonly perKey?: RateLimits;
  /** Reverse proxies whose word about their clients' addresses is taken. */
  readonly isProxy?: ProxyTest;
};
