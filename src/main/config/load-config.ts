import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import { PriceBookError, type PriceBookData } from '../../billing/rating/parse-price-book.ts';
import { type ConfigLayer, type LayerDocument, LayerError, type LayerProblem } from '../../control/layers/config-layer.ts';
import { applyLayer, type AppliedLayer, findShapeProblems } from './apply-layer.ts';
import type { Config } from './config-schema.ts';
import { joinLayers, priceLayers, type PriceLayer } from '../../billing/price-books/price-layers.ts';
import { pricesOf } from './prices-schema.ts';
import { ConfigError } from './config-error.ts';
import { readConfig } from './read-config.ts';
import type { ReferenceLookup } from './resolve-references.ts';

/**
 * The inputs of a configuration: the texts of its files, and the price book and the layer of the store. A change causes
 * a reload.
 */
export type ConfigFiles = {
  readonly text: string;
  readonly prices: string | undefined;
  readonly published: PublishedPriceBook | undefined;
  readonly layer?: ConfigLayer | undefined;
};

/** How a program uses the layers of the store. */
export type LayerUse = {
  /** Whether it takes layers if the file does not say so. */
  readonly byDefault: boolean;
  /** The document of a layer, with its secrets. @throws LayerError */
  readonly open: (layer: ConfigLayer) => LayerDocument;
};

/** A layer that a configuration was joined with. */
type LoadedLayer = Omit<AppliedLayer, 'config'> & { readonly number: number; readonly document: LayerDocument };

export type LoadedConfig = {
  /** The file, with the models and the limits of the layer. */
  readonly config: Config;
  /** Whether the file, or the kind of the program, allows layers. */
  readonly takesLayers: boolean;
  /** Absent if there is none, or the file does not allow it. */
  readonly layer?: LoadedLayer;
  /** The book in force. */
  readonly priceBookData: PriceBookData;
  /** The books that it was joined from, the lowest first. */
  readonly layers: readonly PriceLayer[];
  readonly files: ConfigFiles;
};

/** Reads a file. Without a path, the text is empty. */
function readText(path: string | undefined): string {
  return path === undefined ? '' : readFileSync(path, 'utf8');
}

/** The path of the price book that a configuration names. */
export function pricesPathOf(path: string | undefined, { prices }: Config): string | undefined {
  const { file } = pricesOf(prices);
  return file === undefined ? undefined : resolve(dirname(resolve(path ?? 'weir.yaml')), file);
}

/**
 * Loads the configuration file and the price book that it names.
 * @param path undefined for the embedded defaults
 * @param references what the references of the file stand for
 * @param given the published price book and layer, and earlier texts that are used instead of the present files
 * @throws ConfigError with every problem and its position; LayerError if the layer cannot be used
 */
export function loadConfig(
  path: string | undefined,
  references: ReferenceLookup,
  given: Partial<ConfigFiles> = {},
  use?: LayerUse,
): LoadedConfig {
  const file = path ?? 'weir.yaml';
  const text = given.text ?? readText(path);
  const own = readConfig({ ...references, text, file });
  const takesLayers = own.console?.editConfig ?? use?.byDefault ?? false;
  const joined = use === undefined || !takesLayers || given.layer === undefined ? undefined : joinLayer(own, given.layer, use);
  const config = joined?.config ?? own;
  const pricesPath = pricesPathOf(path, config);
  const { published } = given;
  try {
    const prices = pricesPath === undefined ? undefined : (given.prices ?? readFileSync(pricesPath, 'utf8'));
    const priceFile = pricesPath === undefined || prices === undefined ? undefined : { name: basename(pricesPath), text: prices };
    const layers = priceLayers(published, priceFile, pricesOf(config.prices).mode);
    const files = { text, prices, published, layer: given.layer };
    return { config, takesLayers, ...(joined !== undefined && { layer: joined.layer }), priceBookData: joinLayers(layers), layers, files };
  } catch (error) {
    const reason = error instanceof PriceBookError ? error.message : `it cannot be read (${String(error)})`;
    const message = pricesPath === undefined ? reason : `${pricesPath}: ${reason}`;
    throw new ConfigError(file, [{ line: 1, column: 1, path: 'prices', message }]);
  }
}

/** @throws LayerError if it does not open, or has parts that no layer may have */
function joinLayer(own: Config, layer: ConfigLayer, { open }: LayerUse): { readonly config: Config; readonly layer: LoadedLayer } {
  const document = open(layer);
  const problems = findShapeProblems(document);
  if (problems.length > 0) throw layerProblems(layer.number, problems);
  const { config, ...applied } = applyLayer(own, document);
  return { config, layer: { ...applied, number: layer.number, document } };
}

/** An error that names every problem of a layer. */
export function layerProblems(number: number, problems: readonly LayerProblem[]): LayerError {
  const lines = problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return new LayerError('problems', `layer ${number} cannot be used here: ${lines.join('; ')}`, { problems });
}

/** The present texts of the files, to detect changes. */
export function readConfigFiles(path: string | undefined, config: Config): Omit<ConfigFiles, 'published' | 'layer'> {
  const pricesPath = pricesPathOf(path, config);
  return { text: readText(path), prices: pricesPath === undefined ? undefined : readText(pricesPath) };
}
