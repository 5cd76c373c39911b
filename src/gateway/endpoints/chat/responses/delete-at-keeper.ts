import type { ResponseKeeper } from '../../../../conversations/response-store.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { type Answer, askUpstream } from '../../../../platform/http/ask-upstream.ts';
import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';

const timeoutMs = 15_000;

function requestDeletion({ client, vendor, basePath, apiKey }: Upstream, id: string): Promise<Answer> {
  return askUpstream(
    client,
    {
      path: `${basePath}/responses/${encodeURIComponent(id)}`,
      method: 'DELETE',
      headers: apiKey === undefined ? {} : vendor.credentialHeaders(apiKey, 'openai-responses'),
      body: undefined,
    },
    { timeoutMs, signal: AbortSignal.timeout(timeoutMs + 1000) },
  );
}

/**
 * Also deletes a response at the upstream that stores it. An upstream that is no longer configured, or that does not
 * have the response, has nothing to delete.
 * @throws GatewayError `upstream_error` if the upstream did not delete it; it then stays here too, so that the deletion
 * can
 *   be repeated
 */
export async function deleteAtKeeper(routing: Pick<RoutingTable, 'upstreams'>, keeper: ResponseKeeper, id: string): Promise<void> {
  const upstream = routing.upstreams.find(
    ({ id: upstreamId, credentialId }) => upstreamId === keeper.upstream && credentialId === keeper.credential,
  );
  if (upstream === undefined) return;
  const refuse = (cause: unknown, reason: string): never => {
    throw new GatewayError(
      'upstream_error',
      `the model service that stores this response did not delete it (${reason}); nothing was deleted, try again`,
      {
        internal: upstream.id,
        cause,
      },
    );
  };
  try {
    const { status } = await requestDeletion(upstream, id);
    if (status >= 300 && status !== 404) refuse(undefined, `status ${status}`);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    refuse(cause, 'no answer');
  }
}
