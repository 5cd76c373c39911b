import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ConfigLayer, ConfigLayerStore } from '../../control/layers/config-layer.ts';
import { createLayerOpener } from '../../control/layers/layer-seal.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { nameKept } from '../config/find-config.ts';
import type { ConfigFiles } from '../config/load-config.ts';
import type { LayerSource } from '../config/load-settings.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

/** Connects live settings with the layers of the store. */
export type OpenedLayers = LayerSource & {
  /**
   * Reads the newest layer if it is not the one of this number. True if another one is known now. Rejects with the
   * store's error.
   */
  readonly follow: (newest: number) => Promise<boolean>;
  /** Stores the layer in force, so that a start without the database uses it. */
  readonly onInForce: (files: ConfigFiles) => void;
};

type Parts = {
  readonly environment: Environment;
  readonly store: Pick<ConfigLayerStore, 'newestConfigLayer'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Whether the program takes layers if the file does not say so. */
  readonly byDefault: boolean;
};

const storeMsMax = 2000;

/** Resolves after one query of the store, or when it does not answer in time. Later changes arrive by `follow`. */
export async function openLayers({ environment, store, logger, byDefault }: Parts): Promise<OpenedLayers> {
  const kept = readKept(environment);
  let newest = kept;
  let lastKept = kept;
  const read = async (): Promise<void> => {
    const found = await waitFor(store.newestConfigLayer(), storeMsMax);
    // The same layer stays the same object, which live settings compare.
    if (found?.number !== newest?.number || found?.seal !== newest?.seal) newest = found;
  };
  await read().catch((error: unknown) => logger.warn({ err: error }, 'reading the published layer failed'));
  return {
    byDefault,
    kept,
    newest: () => newest,
    // The key is made or read when the first layer is opened.
    open: (layer) => createLayerOpener(loadStoreKey(environment)).open(layer),
    follow: async (number) => {
      if (number === (newest?.number ?? 0)) return false;
      const before = newest;
      await read();
      return newest !== before;
    },
    onInForce: ({ layer }) => {
      if (layer === lastKept) return;
      lastKept = layer;
      try {
        keep(environment, layer);
      } catch (error) {
        logger.warn({ err: error }, 'saving the layer in force failed');
      }
    },
  };
}

const pathOf = ({ dataDirectory }: Environment): string => join(dataDirectory, 'layer.published.json');
/** Also for the database in the data directory: a layer that was valid helps if the newest one is not. */
const nameOf = (environment: Environment): string => nameKept('layer', environment) ?? 'layer of the data directory';

/**
 * The layer that was in force last; undefined if there is none, or it is of another database. Its secrets are sealed.
 */
function readKept(environment: Environment): ConfigLayer | undefined {
  let text: string;
  try {
    text = readFileSync(pathOf(environment), 'utf8');
  } catch {
    // Usually no layer was ever published.
    return undefined;
  }
  // Only this program writes the file, and the seal of the layer shows a change.
  const kept = parseJsonObject(text) as { readonly name?: string; readonly layer?: ConfigLayer } | undefined;
  return kept?.name === nameOf(environment) ? kept.layer : undefined;
}

function keep(environment: Environment, layer: ConfigLayer | undefined): void {
  const path = pathOf(environment);
  if (layer === undefined) {
    rmSync(path, { force: true });
    return;
  }
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ name: nameOf(environment), layer }), { mode: 0o600, flush: true });
  renameSync(draft, path);
}
