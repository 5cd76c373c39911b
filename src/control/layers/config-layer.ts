import type { Change } from '../../audit/change-author.ts';

/** A layer of the configuration without its content. */
export type ConfigLayerSummary = {
  /** Counts from 1 in each database; the newest is in force. */
  readonly number: number;
  readonly publishedAtMs: number;
  /** The publisher, as the audit log names it. */
  readonly actor: string;
  readonly note?: string;
  /** The earlier layer that was published again with this number. */
  readonly restored?: number;
};

/** A published layer of the configuration for all gateways of a database. It never changes. */
export type ConfigLayer = ConfigLayerSummary & {
  /** A `LayerDocument` as JSON, with null in the place of each secret. */
  readonly document: string;
  /** A `SealedSecrets` as JSON. */
  readonly secrets: string;
  /** Proves that a program with the key of the instance has published this layer under this number. */
  readonly seal: string;
};

/** A layer that a gateway checks before it is published. It never comes into force. */
export type LayerCandidate = Pick<ConfigLayer, 'document' | 'secrets' | 'seal'>;

/** A credential that only a program with the key of the instance can open, for the address that it was given for. */
export type SealedSecret = {
  /** base64url */
  readonly sealed: string;
  /** The last characters, if the credential is long enough. */
  readonly endsIn?: string;
  /** The layer that it was given with. */
  readonly since: number;
};

/** The secrets of a layer by their places: `/upstreams/openai/apiKey`. */
export type SealedSecrets = Readonly<Record<string, SealedSecret>>;

/** The parts of the configuration that a layer may have. Their schemas are those of weir.yaml. */
export type LayerDocument = {
  readonly upstreams?: Readonly<Record<string, LayerUpstream>>;
  readonly models?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly limits?: { readonly perKey?: Readonly<Record<string, unknown>> };
};
export type LayerUpstream = Readonly<Record<string, unknown>>;

/** Stores the layers of a database. They are append-only. All methods reject with the store's error. */
export type ConfigLayerStore = {
  /**
   * Adds a layer, and tells gateways about it in the same transaction. False, without a change, if its number exists.
   */
  readonly insertConfigLayer: (layer: ConfigLayer, change: Change) => Promise<boolean>;
  readonly newestConfigLayer: () => Promise<ConfigLayer | undefined>;
  readonly findConfigLayer: (number: number) => Promise<ConfigLayer | undefined>;
  /** The newest first, at most `limit`, of those with numbers below `before`. */
  readonly listConfigLayers: (page: { readonly before?: number; readonly limit: number }) => Promise<readonly ConfigLayerSummary[]>;
};

/** A problem of a layer, and its path in the document. The message contains no secret. */
export type LayerProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/**
 * A layer cannot be published, or cannot be used. `problems`: its content is wrong. `meanwhile`: somebody else has
 * published one since. `unknown`: there is no layer of this number. `drops`: it takes the last target of models in use.
 * `off`: this program does not publish layers. `role`: the database does not let it. `foreign`: it was sealed with
 * another key, or changed afterwards.
 */
export type LayerErrorCode = 'problems' | 'meanwhile' | 'unknown' | 'drops' | 'off' | 'role' | 'foreign';

export class LayerError extends Error {
  readonly code: LayerErrorCode;
  readonly problems: readonly LayerProblem[];
  /** The models of `drops`. */
  readonly models: readonly string[];

  constructor(
    code: LayerErrorCode,
    message: string,
    options: { readonly problems?: readonly LayerProblem[]; readonly models?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LayerError';
    this.code = code;
    this.problems = options.problems ?? [];
    this.models = options.models ?? [];
  }
}
