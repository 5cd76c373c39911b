import type { RateLimits } from '../../accounts/access-limits.ts';
import type { DisconnectPolicy } from '../../billing/ledger/call-entry.ts';
import type { ValidationMode } from '../../dialects/dialect-id.ts';
import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import type { ProxyTest } from '../../platform/http/client-address.ts';
import type { GatewayLimits, GatewayTimeouts, OverloadSettings, RetrySettings } from './limits.ts';

/**
 * The treatment of a reply that does not fit the schema of its strict request. `off`: it is not checked; `report`: it
 * is an error; `repair`: one more request is sent to the model, then it is an error. `auto`: `repair` for translated
 * calls whose upstream does not enforce the whole schema, otherwise `off`.
 */
export type ReplyCheck = 'auto' | 'off' | 'report' | 'repair';

/** The settings of a call, except its routes. Read once per call, so that a reload never changes a running call. */
export type CallSettings = {
  readonly limits: GatewayLimits;
  readonly timeouts: GatewayTimeouts;
  readonly retries: RetrySettings;
  readonly validation: ValidationMode;
  readonly overload: OverloadSettings;
  /** For how many days data is stored, for keys without a setting of their own; 0: nothing is stored. */
  readonly responseRetentionDays: number;
  readonly videos: VideoSettings;
  /** Absent: the defaults. */
  readonly images?: ImageEndpointSettings;
  /** How holds are computed. Absent: the defaults. */
  readonly credits?: CreditSettings;
  /** The action when a client disconnects, for keys without a setting of their own. Absent: `abort`. */
  readonly disconnect?: DisconnectPolicy;
  /** Whether requests may name images, files and videos in private networks. Absent: no. */
  readonly allowsPrivateMedia?: boolean;
  /** Absent: the defaults. */
  readonly tools?: ToolSettings;
  /** The model that judges content if no upstream of the requested model does. Absent: none. */
  readonly moderations?: { readonly standIn: string };
  /**
   * Whether replies are checked against the requested schemas, for models without a setting of their own. Absent:
   * `auto`.
   */
  readonly replyCheck?: ReplyCheck;
  /** Bounds of uploaded audio. Absent: the defaults. */
  readonly audio?: AudioSettings;
  /** The members of a request's metadata that are tags of the call, by the name of the tag. Absent: none. */
  readonly metadataTags?: Readonly<Record<string, string>>;
  /** The limits of keys without limits of their own. */
  readonly perKey?: RateLimits;
  /** Reverse proxies that are trusted to name their clients' addresses. */
  readonly isProxy?: ProxyTest;
};

/** How holds are computed, and how a stream ends that has used up its hold. */
export type CreditSettings = {
  /**
   * Output tokens that are held for a call without a bound. A stream that writes more gets as many again, as long as
   * there is credit.
   */
  readonly outputTokensDefault: number;
  /**
   * The calls without a bound that hold all output that their model can write, because their cost is known only when it
   * is spent: whole replies, or also streams of models that may reason invisibly.
   */
  readonly coversUnbounded: 'none' | 'whole' | 'reasoning';
  /** Whether a stream without further credit is cut, or runs to its end and is booked at its true cost. */
  readonly exhausted: 'cut' | 'finish';
};

export const defaultCredits: CreditSettings = { outputTokensDefault: 4096, coversUnbounded: 'whole', exhausted: 'cut' };

/**
 * What runs a built-in tool for a model. `auto`: the vendor if each of the model's targets can, otherwise the gateway;
 * `native`: only the vendor; `gateway`: only the gateway; `off`: nothing.
 */
type ToolMode = 'auto' | 'native' | 'gateway' | 'off';

/** Modes by kind of tool. Absent: `auto`. */
export type ToolModes = { readonly [Kind in BuiltInToolKind]?: ToolMode };

/** What runs tools, and the bounds of those that the gateway runs for one call. */
export type ToolSettings = {
  /** How often the model may be called. The last call offers none of the gateway's tools. */
  readonly roundsMax: number;
  /** How many tool calls may run for one call. */
  readonly runsMax: number;
  /** The cost of one call after which the model is not called again. Absent: no bound. */
  readonly costMaxNanoUsd?: bigint;
  /** The longest run of a tool. */
  readonly runMsMax: number;
  /** For models without modes of their own. */
  readonly modes?: ToolModes;
};

export const defaultTools: ToolSettings = { roundsMax: 10, runsMax: 64, runMsMax: 120_000 };

/** Bounds of uploaded audio. */
export type AudioSettings = {
  /** The most bytes of one file. */
  readonly uploadBytesMax: number;
  /** The most bytes on the disk of all files in use. */
  readonly spoolBytesMax: number;
};

/** The vendor's limit: 25 MiB for a file. */
export const defaultAudioSettings: AudioSettings = { uploadBytesMax: 26_214_400, spoolBytesMax: 8_589_934_592 };

/** The operator's settings for images. */
export type ImageEndpointSettings = {
  /** For how many hours the link to an image works, and its file is stored. */
  readonly linkHours: number;
  /** The most bytes of one file that is uploaded to be edited. */
  readonly uploadBytesMax: number;
};

/** The vendor's limit: 50 MB for a file. */
export const defaultImageEndpointSettings: ImageEndpointSettings = { linkHours: 24, uploadBytesMax: 52_428_800 };

/** The operator's settings for videos. */
export type VideoSettings = {
  /** For how many days a finished file is stored. */
  readonly retentionDays: number;
  /** For how many days after its end a video without a file is remembered. */
  readonly taskRetentionDays: number;
  /** Bytes that all files of one user may have together. */
  readonly userBytesMax: number;
  readonly fileBytesMax: number;
  /** The age at which an unfinished video raises an alert, and the age at which it is abandoned. */
  readonly deadlineMinutes: number;
  readonly giveUpHours: number;
  /** Whether clients of other interfaces than xAI's also receive links to finished videos that work without a key. */
  readonly signedLinks: boolean;
  /** The public address of the gateway, for links. Absent: the address of the request. */
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
