import type { VideoProtocol, VideoProtocolId } from '../../../../dialects/video-tasks/video-protocol.ts';
import type { VideoTask } from '../../../../tasks/video-task.ts';
import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';

/** The protocols of the upstream interfaces. */
export type VideoProtocols = Readonly<Record<VideoProtocolId, VideoProtocol>>;

/** The upstream of a task and its protocol, or the problem that the operator must fix. */
export type TaskUpstream = { readonly upstream: Upstream; readonly protocol: VideoProtocol } | { readonly problem: string };

/**
 * Finds the upstream of a task with the credential that created it, otherwise with another credential of the upstream:
 * all credentials of an account see its tasks.
 */
export function findTaskUpstream(
  { upstreams }: Pick<RoutingTable, 'upstreams'>,
  protocols: VideoProtocols,
  task: Pick<VideoTask, 'upstream' | 'credentialId' | 'protocol'>,
): TaskUpstream {
  const same = upstreams.filter(({ id }) => id === task.upstream);
  const upstream = same.find(({ credentialId }) => credentialId === task.credentialId) ?? same[0];
  if (upstream === undefined) return { problem: `the configuration no longer has the upstream "${task.upstream}"` };
  const { videos: videoProtocol } = upstream.services;
  if (videoProtocol === undefined || videoProtocol !== task.protocol)
    return { problem: `the upstream "${task.upstream}" is no longer configured for ${task.protocol}` };
  return { upstream, protocol: protocols[videoProtocol] };
}
