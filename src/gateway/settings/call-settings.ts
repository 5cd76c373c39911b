import type { RateLimits } from '../../accounts/access-limits.ts';
import type { DisconnectPolicy } from '../../billing/ledger/call-entry.ts';
import type { ValidationMode } from '../../dialects/dialect-id.ts';
import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import type { GatewayLimits, GatewayTimeouts, OverloadSettings, RetrySettings } from './limits.ts';

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

/** How holds are measured, and what happens to a stream that has used its hold up. */
export type CreditSettings = {
  /** Output tokens that are held for a call whose client sets no bound; a stream that writes more gets as many again, as often as there is credit for it. */
  readonly outputTokensDefault: number;
  /**
   * Which calls without a bound are held for all that their model can write, because what they come to is known only when it is spent: whole replies, or streams of models that may
   * think unseen as well.
   */
  readonly coversUnbounded: 'none' | 'whole' | 'reasoning';
  /** Whether a stream that cannot get more is cut, or goes on to its end and is booked with what it cost. */
  readonly exhausted: 'cut' | 'finish';
};

export const defaultCredits: CreditSettings = { outputTokensDefault: 4096, coversUnbounded: 'whole', exhausted: 'cut' };

/**
 * Who runs a built-in tool for a model. `auto`: the vendor where each of the model's targets can, else the gateway; `native`: only the vendor;
 * `gateway`: only the gateway; `off`: nobody.
 */
type ToolMode = 'auto' | 'native' | 'gateway' | 'off';

/** Modes by kind of tool. Absent: `auto`. */
export type ToolModes = { readonly [Kind in BuiltInToolKind]?: ToolMode };

/** Who runs tools, and the bounds of those that the gateway runs for one call. */
export type ToolSettings = {
  /** How often the model may be asked. The last time it is offered none of the gateway's tools. */
  readonly roundsMax: number;
  /** How many calls of tools may run for one call. */
  readonly runsMax: number;
  /** What one call may cost before it is asked no more. Absent: no bound. */
  readonly costMaxNanoUsd?: bigint;
  /** How long one run of a tool may take. */
  readonly runMsMax: number;
  /** For models that have none of their own. */
  readonly modes?: ToolModes;
};

export const defaultTools: ToolSettings = { roundsMax: 10, runsMax: 64, runMsMax: 120_000 };

/** Bounds of uploaded sound. */
export type AudioSettings = {
  /** The most bytes of one file. */
  readonly uploadBytesMax: number;
  /** The most bytes on the disk of all files that are under way. */
  readonly spoolBytesMax: number;
};

/** As the vendor has it: 25 MiB for a file. */
export const defaultAudioSettings: AudioSettings = { uploadBytesMax: 26_214_400, spoolBytesMax: 8_589_934_592 };

/** What an operator sets for pictures. */
export type PictureSettings = {
  /** For how many hours the link to a picture works, and its file is kept. */
  readonly linkHours: number;
  /** The most bytes of one file that is uploaded to be edited. */
  readonly uploadBytesMax: number;
};

/** 50 MB a file, as the vendor has it. */
export const defaultPictureSettings: PictureSettings = { linkHours: 24, uploadBytesMax: 52_428_800 };

/** What an operator sets for videos. */
export type VideoSettings = {
  /** For how many days a finished file is kept. */
  readonly retentionDays: number;
  /** For how many days after its end a video is remembered that has no file any more. */
  readonly taskRetentionDays: number;
  /** Bytes that the files of one user may have together. */
  readonly userBytesMax: number;
  readonly fileBytesMax: number;
  /** Age at which an unfinished video gets an alert, and at which it is given up. */
  readonly deadlineMinutes: number;
  readonly giveUpHours: number;
  /** Whether finished videos are told with links that work without a key also to clients of other interfaces than xAI's. */
  readonly signedLinks: boolean;
  /** Where clients reach the gateway, for addresses that it hands out. Absent: where the request reached it. */
  readonly publicUrl?: string;
};

const gibibyte = 1024 ** 3;

export const defaultVideoSettings: VideoSettings = {
  retentionDays: 30,
  taskRetentionDays: 90,
  userBytesMax: 50 * gibibyte,
  fileBytesMax: 8 * gibibyte,
  deadlineMinutes: 60,
  giveUpHours: 24,
  signedLinks: false,
};
