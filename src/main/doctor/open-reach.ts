import type { Clock } from '../../platform/clock.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { ClientPools, CredentialSources } from '../config/build-settings.ts';
import { createCredentialSources } from '../egress/credential-sources.ts';
import { openClient } from '../egress/open-client.ts';
import type { Environment } from '../environment.ts';

const headerBytesMax = 64 * 1024;

/** Opens connections and sources of credentials for a check. They are closed with `opened`. */
export function openReach(
  { environment, clock, timeoutMs }: { readonly environment: Environment; readonly clock: Clock; readonly timeoutMs: number },
  opened: AsyncDisposableStack,
): { readonly pools: ClientPools; readonly credentials: CredentialSources; readonly signingNowMs: () => number } {
  const clients = new Map<string, UpstreamClient>();
  const pools: ClientPools = (origin, connectTimeoutMs, { proxy, http2 }) =>
    clients.getOrInsertComputed(JSON.stringify([origin, proxy, http2]), () =>
      openClient({ origin, connectTimeoutMs, headerBytesMax }, { proxy, http2 }, environment.proxies),
    );
  const sources = createCredentialSources({
    clock,
    variable: environment.variable,
    clientOf: (origin, egress) => pools(origin, timeoutMs, egress),
  });
  opened.defer(() => sources.retain(new Set()));
  opened.defer(async () => void (await Promise.all([...clients.values()].map((client) => client.close()))));
  return { pools, credentials: sources.open, signingNowMs: clock.nowMs };
}
