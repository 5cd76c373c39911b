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
 * Deletes a response at the upstream that keeps it too. An upstream that is configured no longer, or says that it has no such response, has nothing to delete.
 * @throws GatewayError `upstream_error` where it could not be deleted there: then it is to stay here as well, so that deleting it can be tried again
 */
export async function deleteAtKeeper(routing: Pick<RoutingTable, 'upstreams'>, keeper: ResponseKeeper, id: string): Promise<void> {
  const upstream = routing.upstreams.find((one) => one.id === keeper.upstream && one.credentialId === keeper.credential);
  if (upstream === undefined) return;
  const refuse = (cause: unknown, what: string): never => {
    throw new GatewayError(
      'upstream_error',
      `the model service that keeps this response did not delete it (${what}); nothing was deleted, try again`,
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
