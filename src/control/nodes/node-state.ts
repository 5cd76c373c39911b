import type { RateLimits } from '../../accounts/access-limits.ts';
import type { Change } from '../../audit/change-author.ts';
import type { LimitAnswer, LimitOwner } from './limit-use.ts';

/** The health of one target in one gateway. */
export type TargetState = {
  /** See targetIdOf. */
  readonly id: string;
  readonly upstream: string;
  /** The upstream, and the place of the credential in its list if it has several: `openai#2`. */
  readonly credential: string;
  readonly model: string;
  readonly state: 'healthy' | 'suspect' | 'failing' | 'rate-limited' | 'rejected';
  /** Time until it is probed; absent if it is in use. */
  readonly againInMs?: number;
  readonly inFlight: number;
  readonly consecutiveFailures: number;
  readonly hasAnswered: boolean;
};

/** The published layer of the configuration, as a gateway uses it. */
export type LayerState = {
  /** The layer in force; absent if none is. */
  readonly number?: number;
  /** Whether the gateway takes layers: `console.editConfig` of its file. */
  readonly isTaken: boolean;
  /** The newest layer that it knows; 0 if none is published. */
  readonly newest: number;
  /** Why the newest layer is not in force; absent if it is, or if the gateway takes none. */
  readonly problem?: string;
  /** Paths of the layer that its file overrides: `models.fast`. */
  readonly hidden: readonly string[];
};

/** A secret, the login to its store or the credential of a cloud, as a gateway has it, without its value. */
export type CredentialState = {
  readonly kind: 'secret' | 'login' | 'credential';
  /** The reference of a secret, the store of a login, the upstream of a credential. */
  readonly name: string;
  /** Where it comes from: `Vault`, `instance metadata`. Absent: it was never read. */
  readonly origin?: string;
  readonly identity?: string;
  /** When it was read last. Absent: never. */
  readonly readAtMs?: number;
  /** When the present value of a secret was first seen. */
  readonly changedAtMs?: number;
  readonly expiresAtMs?: number;
  /** Set if the last reading failed. */
  readonly failure?: { readonly sinceMs: number; readonly reason: string };
};

/** The figures of a gateway process at one moment. */
export type NodeReport = {
  readonly program: string;
  readonly version: string;
  readonly host: string;
  readonly processId: number;
  readonly startedAtMs: number;
  /** A digest of the configuration file in force. */
  readonly configVersion: string;
  /** Why the present file is not in force; absent if it is. */
  readonly configProblem?: string;
  /** Absent from gateways of versions that know no layers. */
  readonly layer?: LayerState;
  readonly priceVersion: string;
  readonly callsUnderWay: number;
  readonly callsWaiting: number;
  /** Finished calls that are not in the database yet. */
  readonly journalPending: number;
  /** The mean length of a turn of the event loop. */
  readonly loopTurnMs: number;
  /** From 0 to 1. */
  readonly loopBusyShare: number;
  readonly memoryBytes: number;
  /** The share of the memory that it may use, from 0 to 1. */
  readonly memoryShare: number;
  /** The number of the last order to reload that it has followed. */
  readonly reloads: number;
  /** The ids of the targets that it leaves out by an operator's order. */
  readonly targetsOut: readonly string[];
  readonly targets: readonly TargetState[];
  /** Absent from gateways of versions that do not report them. */
  readonly credentials?: readonly CredentialState[];
  /** Absent until the first question, and from gateways of versions that know no questions. */
  readonly limits?: LimitAnswer;
};

/** Where a value of the configuration comes from. */
export type ValueSource = 'file' | 'environment' | 'layer' | 'simulated' | 'default';

/** A value of the configuration in force. A secret has no value. */
export type DescribedValue = {
  /** `limits.bodyBytesMax` */
  readonly path: string;
  readonly value?: unknown;
  readonly secret?: { readonly set: boolean; readonly endsIn?: string };
  readonly default?: unknown;
  readonly from: ValueSource;
  /** The variable of the environment that the file names for it. */
  readonly variable?: string;
  /** The secret that the file names for it: `vault:secret/weir/openai#key`. */
  readonly reference?: string;
  /** Its line in the file. */
  readonly line?: number;
};

export type DescribedUpstream = {
  readonly name: string;
  readonly vendor: string;
  readonly title: string;
  /** Scheme, host, port and path. */
  readonly address: string;
  readonly dialects: readonly string[];
  /** The names of its credentials in target ids. */
  readonly credentials: readonly string[];
  readonly settings: readonly DescribedValue[];
};

/** The price of a meter, before factors of users and keys. */
type DescribedPrice = {
  readonly meter: string;
  /** Of `per` units, as a decimal string. */
  readonly unitPriceUsd: string;
  readonly per: number;
};

/** A built-in tool, such as `web-search`, that calls of a model can use. */
export type DescribedTool = {
  readonly tool: string;
  /** `vendor` runs it at every target that can; `gateway` runs it itself. */
  readonly runBy: 'vendor' | 'gateway';
};

/** A model that clients can call. */
export type DescribedModel = {
  readonly name: string;
  /** Whether the configuration names it. */
  readonly isNamed: boolean;
  /** Whether a published layer names it, and the file does not. Absent from gateways that know no layers. */
  readonly isFromLayer?: boolean;
  readonly balance: string;
  readonly kinds: readonly string[];
  readonly isPriced: boolean;
  readonly limits?: RateLimits;
  /** Of chats. Absent from gateways of versions that do not report them. */
  readonly tools?: readonly DescribedTool[];
  readonly targets: readonly {
    readonly id: string;
    readonly upstream: string;
    readonly model: string;
    /** From 1: the targets of the first tier are called first. */
    readonly tier: number;
    /** Of the calls of its tier, from 0 to 1. */
    readonly share: number;
    readonly dialects: readonly string[];
    /** The calls that it takes, in words. */
    readonly only?: string;
    /** The list prices of tokens. Absent from gateways of versions that do not report them, and without a price. */
    readonly prices?: readonly DescribedPrice[];
  }[];
};

/** What a gateway uses, without secrets. It changes with the configuration only. */
export type NodeDescription = {
  readonly upstreams: readonly DescribedUpstream[];
  readonly models: readonly DescribedModel[];
  /** All values except upstreams and models. */
  readonly config: readonly DescribedValue[];
};

export type NodeState = {
  readonly nodeId: string;
  readonly atMs: number;
  readonly report: NodeReport;
  readonly description: NodeDescription;
};

/** An operator's order to leave a target out until a time. */
export type TargetOverride = {
  /** The id of a target, or `<credential>/*` for all models of a credential, or `<upstream>/*`. */
  readonly targetId: string;
  readonly reason: string;
  readonly actor: string;
  readonly setAtMs: number;
  readonly untilMs: number;
};

/** What gateways follow. */
export type ControlSignals = {
  readonly overrides: readonly TargetOverride[];
  /** Grows with each order to reload the configuration. */
  readonly reloads: number;
  /** The number of the newest layer of the configuration; 0 if none is published. */
  readonly newestLayer: number;
  /** The number of the newest question about the use of limits; 0 before the first. */
  readonly limitQuestions: number;
  /** Until when somebody looks at the state of gateways, so that they report it often. */
  readonly watchedUntilMs: number;
};

/** The store through which consoles and gateways speak. All methods reject with the store's error. */
export type ControlStore = {
  /** Replaces the state of a gateway; without a description the last one stays. */
  readonly putNodeState: (state: Omit<NodeState, 'description'> & { readonly description?: NodeDescription }) => Promise<void>;
  /** The state of gateways that have reported since a time, by their id. */
  readonly listNodeStates: (sinceMs: number) => Promise<readonly NodeState[]>;
  /** The same without what they describe. */
  readonly listControlReports: (sinceMs: number) => Promise<readonly Omit<NodeState, 'description'>[]>;
  /** Removes the state of a gateway that ends, and of others that were silent since a time. */
  readonly removeNodeState: (nodeId: string, silentSinceMs: number) => Promise<void>;
  readonly readControl: (nowMs: number) => Promise<ControlSignals>;
  /** Orders that have not ended, or one of them. */
  readonly listOverrides: (nowMs: number) => Promise<readonly TargetOverride[]>;
  /** Replaces the order about a target. */
  readonly putOverride: (override: TargetOverride, change: Change) => Promise<void>;
  /** False if there was none. */
  readonly removeOverride: (targetId: string, change: Change) => Promise<boolean>;
  /** Orders all gateways to reload. Resolves with the number of the order. */
  readonly orderReload: (change: Change) => Promise<number>;
  /** Asks gateways to report often until a time. */
  readonly watchNodes: (untilMs: number) => Promise<void>;
  /** Asks gateways what counts against the limits of owners. Resolves with the number of the question. */
  readonly askLimitUse: (owners: readonly LimitOwner[], nowMs: number) => Promise<number>;
  /** The owners that were asked for lately: the newest first, at most 500. */
  readonly listLimitQuestions: () => Promise<readonly LimitOwner[]>;
};

/** A gateway that has been silent for longer is not counted any more. */
export const silentAfterMs = 65_000;

/**
 * The id of a target: a credential of an upstream, and a model there.
 * @param credentialId the id in the process, which changes with the key; the id of the target does not
 */
export function targetIdOf(credentialId: string, model: string): string {
  return `${credentialNameOf(credentialId)}/${model}`;
}

/** The name of a credential without the mark of its key: `openai`, `openai#2`. */
export function credentialNameOf(credentialId: string): string {
  return credentialId.replace(/~[0-9a-f]+$/, '');
}

/** The order that leaves a target out at a time, if there is one. */
export function findOverride(
  overrides: readonly TargetOverride[],
  {
    upstreamId,
    credentialId,
    upstreamModel,
  }: { readonly upstreamId: string; readonly credentialId: string; readonly upstreamModel: string },
  nowMs: number,
): TargetOverride | undefined {
  const credential = credentialNameOf(credentialId);
  const ids = [`${credential}/${upstreamModel}`, `${credential}/*`, `${upstreamId}/${upstreamModel}`, `${upstreamId}/*`];
  return overrides.find(({ targetId, untilMs }) => untilMs > nowMs && ids.includes(targetId));
}
