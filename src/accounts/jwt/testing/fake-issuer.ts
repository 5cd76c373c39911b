import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

/** An issuer for tests: it signs tokens, and has the documents that a real one publishes. */
export type FakeIssuer = {
  readonly url: string;
  /** Signs with the newest key. Members of `changes` replace claims; `undefined` removes one. */
  readonly sign: (changes?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Makes a new key. The old one stays published unless `forget` is set. */
  readonly rotate: (options?: { readonly forget?: boolean }) => Promise<void>;
  readonly jwks: () => { readonly keys: readonly JWK[] };
};

export async function createFakeIssuer(url: string, nowMs: () => number, algorithm = 'RS256'): Promise<FakeIssuer> {
  let published: readonly JWK[] = [];
  let signing: Awaited<ReturnType<typeof generateKeyPair>> | undefined;
  let kid = '';
  const rotate = async ({ forget = false }: { readonly forget?: boolean } = {}): Promise<void> => {
    signing = await generateKeyPair(algorithm, { extractable: true });
    kid = `key-${published.length + 1}-${Math.trunc(nowMs())}`;
    const jwk = { ...(await exportJWK(signing.publicKey)), kid, use: 'sig', alg: algorithm };
    published = forget ? [jwk] : [...published, jwk];
  };
  await rotate();
  return {
    url,
    rotate,
    jwks: () => ({ keys: published }),
    sign: async (changes = {}, header = {}) => {
      if (signing === undefined) throw new Error('there is no key');
      const seconds = Math.floor(nowMs() / 1000);
      const claims = { iss: url, aud: 'weir', sub: 'alice', iat: seconds, exp: seconds + 300, ...changes };
      const present: JWTPayload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
      return await new SignJWT(present).setProtectedHeader({ alg: algorithm, kid, ...header }).sign(signing.privateKey);
    },
  };
}
