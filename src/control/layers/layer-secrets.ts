import type { LayerDocument, LayerUpstream } from './config-layer.ts';

/** A place of a secret in a document, and the value there. */
export type PlacedSecret = {
  /** `/upstreams/openai/apiKeys/1`: names of upstreams contain neither `/` nor `~`. */
  readonly place: string;
  readonly path: readonly (string | number)[];
  readonly upstream: string;
  readonly value: unknown;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The credentials in a document that was not checked yet. */
export function listSecrets(document: unknown): readonly PlacedSecret[] {
  const upstreams = isObject(document) && isObject(document['upstreams']) ? Object.entries(document['upstreams']) : [];
  return upstreams.flatMap(([upstream, members]) => {
    if (!isObject(members)) return [];
    const { apiKey, apiKeys } = members;
    const place = (path: readonly (string | number)[], value: unknown): PlacedSecret => ({
      place: `/${path.join('/')}`,
      path,
      upstream,
      value,
    });
    return [
      ...(apiKey === undefined ? [] : [place(['upstreams', upstream, 'apiKey'], apiKey)]),
      ...(Array.isArray(apiKeys) ? apiKeys.map((value: unknown, index) => place(['upstreams', upstream, 'apiKeys', index], value)) : []),
    ];
  });
}

/** A document with another value at the place of a secret. Other places stay as they are. */
export function putSecret<Document>(document: Document, path: readonly (string | number)[], value: unknown): Document {
  const put = (node: unknown, [step, ...rest]: readonly (string | number)[]): unknown => {
    if (step === undefined) return value;
    if (Array.isArray(node)) return node.map((member: unknown, index) => (index === Number(step) ? put(member, rest) : member));
    return isObject(node) && Object.hasOwn(node, step) ? { ...node, [step]: put(node[step], rest) } : node;
  };
  // A document keeps its form: only a value at a place of a secret changes.
  return put(document, path) as Document;
}

/** The path of a place in a stored layer. */
export function pathOfPlace(place: string): readonly string[] {
  return place.split('/').slice(1);
}

/** The upstream that a place belongs to. */
export function upstreamAt(document: LayerDocument, name: string): LayerUpstream | undefined {
  return document.upstreams !== undefined && Object.hasOwn(document.upstreams, name) ? document.upstreams[name] : undefined;
}

/** The problem of a text with a reference, such as `${NAME}`; undefined if it has none. */
export function findReference(text: string): string | undefined {
  const reference = /\$\{[^}]*\}/.exec(text)?.[0];
  return reference === undefined ? undefined : `must not refer to what a machine has, as ${reference} does; give the value`;
}

/** Shorter secrets would be recognisable by four characters. */
const shownFrom = 20;

/** The last characters of a secret, if it is long enough to show them. */
export function endOfSecret(secret: string): string | undefined {
  return secret.length >= shownFrom ? secret.slice(-4) : undefined;
}
