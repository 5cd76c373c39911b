import { randomBytes } from 'node:crypto';

import { createKeyDirectory } from '../../accounts/key-directory.ts';
import { createKeyUses } from '../../accounts/key-uses.ts';
import type { TokenIssuer } from '../../accounts/jwt/token-issuer.ts';
import { createTokenCallers, looksLikeToken } from '../../accounts/jwt/token-callers.ts';
import { isRefused } from '../../accounts/jwt/token-refusal.ts';
import type { CallerDirectory } from '../../gateway/admission/authenticate.ts';
import type { Clock } from '../../platform/clock.ts';
import { askUpstream } from '../../platform/http/ask-upstream.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../config/config-schema.ts';
import { buildTokenIssuers } from '../config/token-issuers.ts';
import { openClient } from '../egress/open-client.ts';
import type { EnvironmentProxies } from '../egress/environment-proxies.ts';
import type { Environment } from '../environment.ts';
import { rememberKeys } from './remember-keys.ts';

const keysRefreshMs = 1000;
const resolveMs = 2000;
/** The first token of an issuer waits for its discovery document and its keys. */
const tokenResolveMs = 8000;
const documentMs = 3000;
const documentBytesMax = 262_144;

/** Opens the look-up of callers: by API keys, and by tokens of the configured issuers. */
export async function openCallers(
  {
    environment,
    store,
    clock,
    logger,
    config,
  }: {
    readonly environment: Environment;
    readonly store: Store;
    readonly clock: Clock;
    readonly logger: Logger;
    /** The present configuration. */
    readonly config: () => Config;
  },
  opened: AsyncDisposableStack,
): Promise<CallerDirectory> {
  const keys = createKeyDirectory({ store, clock, refreshMs: keysRefreshMs, logger, ...rememberKeys(environment, logger) });
  await keys.start();
  opened.defer(() => keys.close());
  const uses = opened.adopt(createKeyUses({ store, clock, logger }), (noted) => noted.close());
  const tokens = createTokenCallers({
    issuers: createIssuerReader(config),
    fetchDocument: (url) => fetchDocument(url, environment.proxies),
    directory: keys,
    store,
    clock,
    random: randomBytes,
    logger,
  });
  return {
    // A secret that an operator chose may look like a token.
    find: (secret) => (looksLikeToken(secret) ? (tokens.find(secret) ?? keys.find(secret)) : keys.find(secret)),
    resolve: async (secret) => {
      const caller = looksLikeToken(secret) ? await tokens.resolve(secret, AbortSignal.timeout(tokenResolveMs)) : undefined;
      if (caller !== undefined && !isRefused(caller)) return caller;
      return (await keys.resolve(secret, AbortSignal.timeout(resolveMs))) ?? caller;
    },
    noteUse: uses.note,
  };
}

/** The issuers of the present configuration. The same configuration gives the same array. */
function createIssuerReader(config: () => Config): () => readonly TokenIssuer[] {
  let read: { readonly config: Config; readonly issuers: readonly TokenIssuer[] } | undefined;
  return () => {
    const present = config();
    if (read?.config !== present) read = { config: present, issuers: buildTokenIssuers(present) };
    return read.issuers;
  };
}

/** @throws Error for the log: no connection, a status other than 200, a redirect, no JSON, or more than 256 KiB */
async function fetchDocument(url: string, proxies: EnvironmentProxies): Promise<unknown> {
  const { origin, pathname, search } = new URL(url);
  const client = openClient({ origin, connectTimeoutMs: documentMs, headerBytesMax: 65_536 }, {}, proxies);
  try {
    const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
    const request = { path: pathname + search, method: 'GET', headers, body: undefined } as const;
    const { status, body } = await askUpstream(client, request, { timeoutMs: documentMs, signal: AbortSignal.timeout(documentMs) });
    if (status !== 200) throw new Error(`it answered with status ${status}`);
    if (body.length > documentBytesMax) throw new Error(`its answer is longer than ${documentBytesMax} bytes`);
    return parseJson(body);
  } finally {
    await client.close();
  }
}
