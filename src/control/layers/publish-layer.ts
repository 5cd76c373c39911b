import type { Change } from '../../audit/change-author.ts';
import {
  type ConfigLayer,
  type ConfigLayerStore,
  type LayerCandidate,
  type LayerDocument,
  LayerError,
  type LayerProblem,
  type LayerUpstream,
  type SealedSecret,
  type SealedSecrets,
} from './config-layer.ts';
import { destinationOf, type LayerSealer, readDocument, readSecrets } from './layer-seal.ts';
import { endOfSecret, findReference, listSecrets, pathOfPlace, type PlacedSecret, putSecret, upstreamAt } from './layer-secrets.ts';

/** The outcome of checking a layer as gateways would use it. */
export type LayerCheck = {
  readonly problems: readonly LayerProblem[];
  /** Models in use that would have no target any more. */
  readonly lostModels: readonly string[];
};

type Parts = {
  readonly store: Pick<ConfigLayerStore, 'newestConfigLayer' | 'findConfigLayer' | 'insertConfigLayer'>;
  readonly sealer: LayerSealer;
  /** Checks a document whose secrets are replaced by texts that reveal nothing. */
  readonly check: (document: unknown) => Promise<LayerCheck>;
};

/** A new document, whose secrets are texts or `{layer: n}`; or the number of a layer that is published again. */
export type LayerSource = { readonly document: unknown } | { readonly from: number };

export type LayerFacts = {
  readonly note?: string | undefined;
  /** The newest layer that the publisher has seen, 0 for none; undefined accepts any. */
  readonly expectedNewest?: number | undefined;
  /** Models in use that may lose their last target. */
  readonly dropModels: readonly string[];
};

/** Documents are larger only by mistake. */
const documentCharactersMax = 512 * 1024;

/**
 * Prepares a layer for a check by a gateway, as `publishLayer` would store it.
 * @returns the layer, its document without secrets, and its upstreams that are not as in the newest layer
 * @throws LayerError `problems`, `unknown`, `foreign`
 */
export async function prepareCandidate(
  { store, sealer, check }: Omit<Parts, 'store'> & { readonly store: LayerReader & Pick<ConfigLayerStore, 'newestConfigLayer'> },
  source: LayerSource,
): Promise<{ readonly candidate: LayerCandidate; readonly changed: readonly string[]; readonly document: LayerDocument }> {
  const newest = await store.newestConfigLayer();
  const { content } = await takeChecked({ store, sealer, check }, source, (newest?.number ?? 0) + 1);
  const document = readDocument(content);
  const changed = Object.keys(document.upstreams ?? {}).filter(
    (name) => newest === undefined || settingsOf(newest, name) !== settingsOf(content, name),
  );
  return { candidate: sealer.sealCandidate(content), changed, document };
}

/** The settings of an upstream and its sealed credentials, to be compared. A credential that was kept is the same. */
function settingsOf(layer: Pick<ConfigLayer, 'document' | 'secrets'>, name: string): string {
  const secrets = Object.entries(readSecrets(layer)).filter(([place]) => pathOfPlace(place)[1] === name);
  return JSON.stringify([upstreamAt(readDocument(layer), name), secrets.map(([place, { sealed }]) => [place, sealed])]);
}

/**
 * Checks a layer as a whole and adds it to the store, from where all gateways take it within two seconds. Nothing is
 * stored if it has a problem. Secrets that are not in the source are copied without opening them.
 * @throws LayerError
 */
export async function publishLayer(
  { store, sealer, check }: Parts,
  source: LayerSource,
  facts: LayerFacts,
  change: Change,
): Promise<ConfigLayer> {
  const newest = await store.newestConfigLayer();
  const number = (newest?.number ?? 0) + 1;
  if (facts.expectedNewest !== undefined && facts.expectedNewest !== number - 1) throw publishedMeanwhile();
  const { content: taken, lostModels } = await takeChecked({ store, sealer, check }, source, number);
  const dropped = lostModels.filter((model) => !facts.dropModels.includes(model));
  if (dropped.length > 0)
    throw new LayerError('drops', `these models were called in the last 24 hours and would have no target: ${dropped.join(', ')}`, {
      models: dropped,
    });
  const content = { number, ...taken };
  const layer: ConfigLayer = {
    ...content,
    publishedAtMs: change.atMs,
    actor: change.actor,
    ...(facts.note !== undefined && { note: facts.note }),
    ...('from' in source && { restored: source.from }),
    seal: sealer.seal(content),
  };
  if (await insert(store, layer, change)) return layer;
  throw publishedMeanwhile();
}

type CheckedParts = Pick<Parts, 'sealer' | 'check'> & { readonly store: LayerReader };

/** A source as it is stored, if it has no problem. @throws LayerError */
async function takeChecked(
  { store, sealer, check }: CheckedParts,
  source: LayerSource,
  number: number,
): Promise<{ readonly content: Pick<ConfigLayer, 'document' | 'secrets'>; readonly lostModels: readonly string[] }> {
  const taken = 'from' in source ? await takeAgain(store, sealer, source.from) : await takeNew(store, sealer, source.document, number);
  const { problems, lostModels } = await check(taken.checked);
  const all = [...taken.problems, ...problems];
  if (all.length > 0) throw new LayerError('problems', 'the layer cannot be used', { problems: all });
  const document = JSON.stringify(taken.document);
  if (document.length > documentCharactersMax) throw new LayerError('problems', 'a layer has at most 512 KiB');
  return { content: { document, secrets: JSON.stringify(taken.secrets) }, lostModels };
}

function publishedMeanwhile(): LayerError {
  return new LayerError('meanwhile', 'another layer was published in the meantime');
}

type Taken = {
  /** As it is stored, without secrets. */
  readonly document: unknown;
  readonly secrets: SealedSecrets;
  /** As it is checked. */
  readonly checked: unknown;
  readonly problems: readonly LayerProblem[];
};

type LayerReader = Pick<ConfigLayerStore, 'findConfigLayer'>;

async function findGenuine(store: LayerReader, sealer: LayerSealer, number: number): Promise<ConfigLayer | undefined> {
  const layer = await store.findConfigLayer(number);
  if (layer !== undefined) sealer.assertGenuine(layer);
  return layer;
}

async function takeAgain(store: LayerReader, sealer: LayerSealer, number: number): Promise<Taken> {
  const layer = await findGenuine(store, sealer, number);
  if (layer === undefined) throw new LayerError('unknown', `there is no layer ${number}`);
  const document = readDocument(layer);
  const checked = listSecrets(document).reduce((whole, { path, place }) => putSecret(whole, path, placeholderOf(place)), document);
  return { document, secrets: readSecrets(layer), checked, problems: [] };
}

/** A text in the place of a secret, for checks. It is different for each place. */
const placeholderOf = (place: string): string => `secret at ${place}`;

async function takeNew(store: LayerReader, sealer: LayerSealer, given: unknown, number: number): Promise<Taken> {
  const secrets: Record<string, SealedSecret> = {};
  const problems: LayerProblem[] = [];
  const first = new Map<string, string>();
  let document = given;
  let checked = given;
  for (const placed of listSecrets(given)) {
    const { place, path, upstream, value } = placed;
    const settings = upstreamAt(given as LayerDocument, upstream) ?? {};
    const reference = typeof value === 'string' ? findReference(value) : undefined;
    if (reference !== undefined) problems.push({ path, message: reference });
    else if (typeof value === 'string' && value !== '') {
      const endsIn = endOfSecret(value);
      const sealed = sealer.sealSecret(upstream, settings, value);
      secrets[place] = { sealed, since: number, ...(endsIn !== undefined && { endsIn }) };
    } else {
      const kept = await findKept(store, sealer, placed, settings);
      if (typeof kept === 'string') problems.push({ path, message: kept });
      else secrets[place] = kept;
    }
    document = putSecret(document, path, null);
    // Two equal secrets are checked as two equal texts.
    const shown = typeof value === 'string' ? first.getOrInsert(value, placeholderOf(place)) : placeholderOf(place);
    checked = putSecret(checked, path, shown);
  }
  return { document, secrets, checked, problems };
}

/** The secret of an earlier layer at the same place, or why it cannot be kept. */
async function findKept(
  store: LayerReader,
  sealer: LayerSealer,
  { place, upstream, value }: PlacedSecret,
  settings: LayerUpstream,
): Promise<SealedSecret | string> {
  const number = typeof value === 'object' && value !== null && 'layer' in value ? value.layer : undefined;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1)
    return 'must be the credential as a text, or {"layer": n} for the one that layer n has here';
  const layer = await findGenuine(store, sealer, number);
  const kept = layer === undefined ? undefined : readSecrets(layer)[place];
  if (layer === undefined || kept === undefined) return `layer ${number} has no credential here; give the credential itself`;
  const before = upstreamAt(readDocument(layer), upstream) ?? {};
  if (destinationOf(upstream, before) === destinationOf(upstream, settings)) return kept;
  return `layer ${number} has this credential for another vendor, baseUrl, preset or proxy; give the credential itself`;
}

async function insert(store: Pick<ConfigLayerStore, 'insertConfigLayer'>, layer: ConfigLayer, change: Change): Promise<boolean> {
  try {
    return await store.insertConfigLayer(layer, change);
  } catch (error) {
    if (!(error instanceof Error && 'kind' in error && error.kind === 'read-only')) throw error;
    const message = 'the role of the configuration may not publish layers; weir database roles --console-edits-config lets the console';
    throw new LayerError('role', message, { cause: error });
  }
}
