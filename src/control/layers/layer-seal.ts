import { createHmac, timingSafeEqual } from 'node:crypto';

import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import {
  type ConfigLayer,
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
  /** @throws LayerError `foreign` if another key sealed it, or it was changed afterwards */
  readonly assertGenuine: (layer: ConfigLayer) => void;
};

/** What a gateway needs to use layers. */
export type LayerOpener = {
  /** The document with its secrets. @throws LayerError `foreign` */
  readonly open: (layer: ConfigLayer) => LayerDocument;
};

/**
 * Where the credential of an upstream is sent to. A credential is sealed for it, so that nobody can lead a stored
 * credential to another address: neither by publishing nor by changing a row.
 */
export function destinationOf(name: string, { vendor, baseUrl, preset, proxy }: LayerUpstream): string {
  return JSON.stringify([name, vendor, baseUrl, preset, proxy].map((part) => (typeof part === 'string' ? part : null)));
}

/** @param key the key of the instance */
export function createLayerSealer(key: Uint8Array): LayerSealer {
  const secrets = createSealer(deriveKey(key, 'configuration layers: secrets'));
  const layersKey = deriveKey(key, 'configuration layers: whole');
  const seal: LayerSealer['seal'] = ({ number, document, secrets: sealed }) =>
    createHmac('sha256', layersKey)
      .update(JSON.stringify([number, document, sealed]))
      .digest('base64url');
  return {
    sealSecret: (name, upstream, secret) =>
      Buffer.from(secrets.seal(Buffer.from(destinationOf(name, upstream)), Buffer.from(secret))).toString('base64url'),
    seal,
    assertGenuine: (layer) => {
      const [expected, given] = [seal(layer), layer.seal].map((text) => Buffer.from(text));
      if (expected !== undefined && given !== undefined && expected.length === given.length && timingSafeEqual(expected, given)) return;
      throw new LayerError('foreign', `layer ${layer.number} was sealed with another key than the one of this program, or was changed`);
    },
  };
}

/** @param key the key of the instance */
export function createLayerOpener(key: Uint8Array): LayerOpener {
  const { assertGenuine } = createLayerSealer(key);
  const sealer = createSealer(deriveKey(key, 'configuration layers: secrets'));
  return {
    open: (layer) => {
      assertGenuine(layer);
      let document = readDocument(layer);
      for (const [place, { sealed }] of Object.entries(readSecrets(layer))) {
        const name = pathOfPlace(place)[1] ?? '';
        const destination = destinationOf(name, document.upstreams?.[name] ?? {});
        const opened = sealer.open(Buffer.from(destination), Buffer.from(sealed, 'base64url'));
        if (opened === undefined) throw new LayerError('foreign', `the credential ${place} of layer ${layer.number} cannot be opened`);
        document = putSecret(document, pathOfPlace(place), opened.toString());
      }
      return document;
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
