import { isDeepStrictEqual } from 'node:util';

import type { DiscoveredModel, DiscoveredModels } from '../../../gateway/attempts/routing/routing-table.ts';
import type { Logger } from '../../../platform/log.ts';
import { fetchModelList, type ModelListSource } from './fetch-model-list.ts';

/** Keeps the model lists of upstreams up to date, in the background. */
export type ModelDiscovery = {
  /**
   * Requests the lists of these upstreams, at once and then periodically, and of no others. The list of a source that
   * stays is kept.
   */
  readonly watch: (sources: readonly ModelListSource[]) => void;
  /** Requests all lists now. */
  readonly refresh: () => void;
  /** The last good lists. */
  readonly models: () => DiscoveredModels;
  readonly close: () => void;
};

export type ModelDiscoveryOptions = {
  readonly logger: Logger;
  /** Called after a list has changed. */
  readonly onChange: () => void;
  /** Time between two requests after a success. Default: five minutes. */
  readonly refreshMs?: number;
  /**
   * Time until the next request after a failure, so that a server is found soon after its start. Default: fifteen
   * seconds.
   */
  readonly retryMs?: number;
  /** The limit of one request. Default: ten seconds. */
  readonly timeoutMs?: number;
};

type WatchedSource = {
  source: ModelListSource;
  models: readonly DiscoveredModel[];
  timer: NodeJS.Timeout | undefined;
  /** Aborts the running request, if there is one. */
  asking: AbortController | undefined;
  /** The last failure, so that a repeated one is logged once. */
  lastFailure: string | undefined;
};

/**
 * Describes a failure for the log. If a connection failed at several addresses, the error has a code but no message.
 */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}

/** Whether two sources are the same list, with any client. */
function isSameList({ client: _one, ...one }: ModelListSource, { client: _other, ...other }: ModelListSource): boolean {
  return isDeepStrictEqual(one, other);
}

/** Creates a discovery without sources. It never throws, delays no start, and does not keep the process alive. */
export function createModelDiscovery(options: ModelDiscoveryOptions): ModelDiscovery {
  const { logger, onChange, refreshMs = 300_000, retryMs = 15_000, timeoutMs = 10_000 } = options;
  const watched = new Map<string, WatchedSource>();

  const forget = (one: WatchedSource): void => {
    watched.delete(one.source.upstreamId);
    clearTimeout(one.timer);
    one.asking?.abort();
  };
  const stillWatched = (one: WatchedSource): boolean => watched.get(one.source.upstreamId) === one;

  const accept = (one: WatchedSource, models: readonly DiscoveredModel[]): void => {
    one.lastFailure = undefined;
    if (isDeepStrictEqual(models, one.models)) return;
    one.models = models;
    logger.info({ upstream: one.source.upstreamId, modelCount: models.length }, 'upstream model list changed');
    onChange();
  };
  const fail = (one: WatchedSource, error: unknown): void => {
    const reason = describeFailure(error);
    const kept = one.models.length;
    if (reason !== one.lastFailure) {
      logger.warn({ upstream: one.source.upstreamId, reason, modelCount: kept }, 'upstream model discovery failed');
    }
    one.lastFailure = reason;
  };
  const ask = async (one: WatchedSource): Promise<void> => {
    clearTimeout(one.timer);
    if (one.asking !== undefined) return;
    const asking = new AbortController();
    one.asking = asking;
    let nextMs = refreshMs;
    try {
      const models = await fetchModelList(one.source, { signal: asking.signal, timeoutMs });
      if (stillWatched(one)) accept(one, models);
    } catch (error) {
      nextMs = retryMs;
      if (stillWatched(one)) fail(one, error);
    }
    one.asking = undefined;
    if (stillWatched(one)) one.timer = setTimeout(() => void ask(one), nextMs).unref();
  };

  return {
    watch: (sources) => {
      const former = [...watched.values()];
      for (const one of former) if (!sources.some((source) => isSameList(source, one.source))) forget(one);
      for (const source of sources) {
        const one = watched.get(source.upstreamId) ?? {
          source,
          models: [],
          timer: undefined,
          asking: undefined,
          lastFailure: undefined,
        };
        one.source = source;
        watched.set(source.upstreamId, one);
        void ask(one);
      }
    },
    refresh: () => {
      for (const one of watched.values()) void ask(one);
    },
    models: () => new Map([...watched].map(([upstreamId, { models }]) => [upstreamId, models])),
    close: () => {
      for (const one of watched.values()) forget(one);
    },
  };
}
