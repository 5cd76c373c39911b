import { createHmac, timingSafeEqual } from 'node:crypto';

import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import {
  type ConfigLayer,
  type LayerCandidate,
  type LayerDocument,
  LayerError,
  type LayerUpstream,
  type SealedSecret,
  type SealedSecrets,
} from './config-layer.ts';
import { pathOfPlace, putSecret } from './layer-secrets.ts';

/** What a program needs to publish layers. It cannot open a secret. */
export type LayerSealer = {
  /** Seals a credential for an upstream. It opens for an upstream of this name with the same destination only. */
  readonly sealSecret: (name: string, upstream: LayerUpstream, secret: string) => string;
  /** Seals a whole layer under its number. */
  readonly seal: (layer: Pick<ConfigLayer, 'number' | 'document' | 'secrets'>) => string;
  /** Seals a layer for a check. Under this seal it cannot be published. */
  readonly sealCandidate: (layer: Omit<LayerCandidate, 'seal'>) => LayerCandidate;
  /** @throws LayerError `foreign` if another key sealed it, or it was changed afterwards */
  readonly assertGenuine: (layer: ConfigLayer) => void;
};

/** What a gateway needs to use layers. */
export type LayerOpener = {
  /** The document with its secrets. @throws LayerError `foreign` */
  readonly open: (layer: ConfigLayer) => LayerDocument;
  /** The same of a layer that is only checked. @throws LayerError `foreign` */
  readonly openCandidate: (layer: LayerCandidate) => LayerDocument;
};

/**
 * Where the credential of an upstream is sent to. A credential is sealed for it, so that nobody can lead a stored
 * credential to another address: neither by publishing nor by changing a row.
 */
export function destinationOf(name: string, { vendor, baseUrl, preset, proxy }: LayerUpstream): string {
  return JSON.stringify([name, vendor, baseUrl, preset, proxy].map((part) => (typeof part === 'string' ? part : null)));
}

/** Two purposes of seals, so that a row with one of them is worth nothing in the place of the other. */
function createMarks(key: Uint8Array) {
  const mark = (purpose: string, parts: readonly unknown[]): string =>
    createHmac('sha256', deriveKey(key, `configuration layers: ${purpose}`))
      .update(JSON.stringify(parts))
      .digest('base64url');
  return {
    published: ({ number, document, secrets }: Pick<ConfigLayer, 'number' | 'document' | 'secrets'>) =>
      mark('whole', [number, document, secrets]),
    checked: ({ document, secrets }: Omit<LayerCandidate, 'seal'>) => mark('checked', [document, secrets]),
  };
}

function assertSeal(expected: string, given: string, name: string): void {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  if (one.length === other.length && timingSafeEqual(one, other)) return;
  throw new LayerError('foreign', `${name} was sealed with another key than the one of this program, or was changed`);
}

/** @param key the key of the instance */
export function createLayerSealer(key: Uint8Array): LayerSealer {
  const secrets = createSealer(deriveKey(key, 'configuration layers: secrets'));
  const marks = createMarks(key);
  return {
    sealSecret: (name, upstream, secret) =>
      Buffer.from(secrets.seal(Buffer.from(destinationOf(name, upstream)), Buffer.from(secret))).toString('base64url'),
    seal: marks.published,
    sealCandidate: (layer) => ({ ...layer, seal: marks.checked(layer) }),
    assertGenuine: (layer) => assertSeal(marks.published(layer), layer.seal, `layer ${layer.number}`),
  };
}

/** @param key the key of the instance */
export function createLayerOpener(key: Uint8Array): LayerOpener {
  const marks = createMarks(key);
  const sealer = createSealer(deriveKey(key, 'configuration layers: secrets'));
  const openSecrets = (layer: Omit<LayerCandidate, 'seal'>, words: string): LayerDocument => {
    let document = readDocument(layer);
    for (const [place, { sealed }] of Object.entries(readSecrets(layer))) {
      const name = pathOfPlace(place)[1] ?? '';
      const destination = destinationOf(name, document.upstreams?.[name] ?? {});
      const opened = sealer.open(Buffer.from(destination), Buffer.from(sealed, 'base64url'));
      if (opened === undefined) throw new LayerError('foreign', `the credential ${place} of ${words} cannot be opened`);
      document = putSecret(document, pathOfPlace(place), opened.toString());
    }
    return document;
  };
  return {
    open: (layer) => {
      const words = `layer ${layer.number}`;
      assertSeal(marks.published(layer), layer.seal, words);
      return openSecrets(layer, words);
    },
    openCandidate: (layer) => {
      const words = 'the layer of the check';
      assertSeal(marks.checked(layer), layer.seal, words);
      return openSecrets(layer, words);
    },
  };
}

/** The document of a layer, without secrets. */
export function readDocument({ document }: Pick<ConfigLayer, 'document'>): LayerDocument {
  // Only this program writes it, and its seal shows that.
  return JSON.parse(document) as LayerDocument;
}

export function readSecrets({ secrets }: Pick<ConfigLayer, 'secrets'>): SealedSecrets {
  return JSON.parse(secrets) as Readonly<Record<string, SealedSecret>>;
}
