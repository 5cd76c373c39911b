import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createFakeIssuer, type FakeIssuer } from '../../src/accounts/jwt/testing/fake-issuer.ts';

/** An issuer on the loopback, with its two documents over HTTP. */
export type ServedIssuer = FakeIssuer & {
  /** Paths that were requested. */
  readonly requests: readonly string[];
  /** Answers with 500 from now on, or no longer. */
  readonly setAway: (isAway: boolean) => void;
  readonly close: () => Promise<void>;
};

export async function serveIssuer(algorithm = 'RS256'): Promise<ServedIssuer> {
  const requests: string[] = [];
  let isAway = false;
  const made: { issuer?: FakeIssuer } = {};
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const { issuer } = made;
    if (isAway || issuer === undefined) {
      response.writeHead(500).end('away');
      return;
    }
    const document = request.url === '/keys' ? issuer.jwks() : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = await createFakeIssuer(`http://127.0.0.1:${port}`, Date.now, algorithm);
  made.issuer = issuer;
  return {
    ...issuer,
    requests,
    setAway: (away) => (isAway = away),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
