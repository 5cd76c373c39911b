import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** The claims of the person, and the faults of the provider, at the next sign-in. */
type ProviderBehaviour = {
  /** Claims of the person. */
  claims: JWTPayload;
  /** Changes the ID token's claims before it is signed. */
  forge: (claims: JWTPayload) => JWTPayload;
  /** Replaces the signed ID token. */
  token: (token: string) => string;
  /** Answers about the person beside the ID token. */
  userInfo: Record<string, unknown> | undefined;
  /** Parameters of the way back. */
  wayBack: (parameters: URLSearchParams) => void;
  /** Answers a path in another way. */
  answer: Record<string, (reply: ServerResponse) => void>;
};

/** A small provider of OpenID Connect that does what the specification says, unless its behaviour is changed. */
export type LoopbackProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  behaviour: ProviderBehaviour;
  /** Signs with a new key from now on; the old one is not published any more. */
  readonly rotateKeys: () => Promise<void>;
  /** Acts as the browser of a person who agrees: the query of the way back. */
  readonly agree: (url: string) => string;
  /** Paths that were asked for. */
  readonly requests: string[];
  readonly close: () => Promise<void>;
};

type Grant = { readonly nonce: string; readonly challenge: string; readonly redirectUri: string };

const correct = (): ProviderBehaviour => ({
  claims: { sub: 'ann-1', preferred_username: 'ann', email: 'ann@example.com', groups: ['admins'] },
  forge: (claims) => claims,
  token: (token) => token,
  userInfo: undefined,
  wayBack: () => {},
  answer: {},
});

export async function startLoopbackProvider(): Promise<LoopbackProvider> {
  const grants = new Map<string, Grant>();
  const requests: string[] = [];
  let keys = await makeKeys();
  const server = createServer((request, reply) => {
    void serve(request, reply).catch((error: unknown) => reply.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: LoopbackProvider = {
    issuer,
    clientId: 'weir',
    clientSecret: 'client secret & more',
    behaviour: correct(),
    rotateKeys: async () => {
      keys = await makeKeys();
    },
    agree: (address) => {
      const asked = new URL(address).searchParams;
      const value = (name: string): string => asked.get(name) ?? '';
      const code = randomUUID();
      if (value('code_challenge_method') !== 'S256' || value('response_type') !== 'code') throw new Error(`unexpected request ${address}`);
      grants.set(code, { nonce: value('nonce'), challenge: value('code_challenge'), redirectUri: value('redirect_uri') });
      const back = new URLSearchParams({ code, state: value('state'), iss: issuer });
      provider.behaviour.wayBack(back);
      return `?${back.toString()}`;
    },
    requests,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };

  async function serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer);
    requests.push(pathname);
    const { answer, userInfo } = provider.behaviour;
    if (answer[pathname] !== undefined) return answer[pathname](reply);
    const send = (body: unknown): void => void reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/.well-known/openid-configuration')
      return send({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        ...(userInfo === undefined ? {} : { userinfo_endpoint: `${issuer}/userinfo` }),
        id_token_signing_alg_values_supported: ['ES256'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        authorization_response_iss_parameter_supported: true,
      });
    if (pathname === '/authorize') {
      // A person in a browser, who agrees.
      const asked = new URL(request.url ?? '/', issuer);
      const back = `${asked.searchParams.get('redirect_uri') ?? ''}${provider.agree(asked.href)}`;
      return void reply.writeHead(302, { location: back }).end();
    }
    if (pathname === '/keys') return send({ keys: [keys.published] });
    if (pathname === '/userinfo' && request.headers.authorization === 'Bearer access') return send(userInfo);
    if (pathname === '/token') return send(await exchange(await readForm(request)));
    reply.writeHead(404).end();
  }

  async function exchange(form: URLSearchParams): Promise<object> {
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) throw new Error('no such grant');
    if (form.get('client_secret') !== provider.clientSecret || form.get('client_id') !== provider.clientId)
      throw new Error('unknown client');
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: provider.clientId,
      nonce: grant.nonce,
      iat: nowSeconds,
      exp: nowSeconds + 300,
      auth_time: nowSeconds,
    };
    const payload = provider.behaviour.forge({ ...claims, ...provider.behaviour.claims });
    const token = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: keys.published.kid }).sign(keys.secret);
    return { access_token: 'access', token_type: 'Bearer', id_token: provider.behaviour.token(token) };
  }

  return provider;
}

/** Sets a provider back to what the specification says. */
export function correctBehaviour(provider: LoopbackProvider): void {
  provider.behaviour = correct();
}

async function makeKeys() {
  const { publicKey, privateKey }: { publicKey: CryptoKey; privateKey: CryptoKey } = await generateKeyPair('ES256');
  const kid = randomUUID();
  return { secret: privateKey, published: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return new URLSearchParams(text);
}
