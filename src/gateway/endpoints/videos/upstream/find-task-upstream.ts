import type { VideoProtocol, VideoProtocolId } from '../../../../dialects/video-tasks/video-protocol.ts';
import type { VideoTask } from '../../../../tasks/video-task.ts';
import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';

/** How each upstream interface of videos is spoken. */
export type VideoProtocols = Readonly<Record<VideoProtocolId, VideoProtocol>>;

/** The upstream that has a task, and how it is spoken to; or why nobody can be asked, which is for the operator to mend. */
export type TaskUpstream = { readonly upstream: Upstream; readonly protocol: VideoProtocol } | { readonly problem: string };

/** Finds the upstream of a task with the credential that made it, else with another one of the same upstream: an account's tasks are seen by all its credentials. */
export function findTaskUpstream(
  { upstreams }: Pick<RoutingTable, 'upstreams'>,
  protocols: VideoProtocols,
  task: Pick<VideoTask, 'upstream' | 'credentialId' | 'protocol'>,
): TaskUpstream {
  const same = upstreams.filter(({ id }) => id === task.upstream);
  const upstream = same.find(({ credentialId }) => credentialId === task.credentialId) ?? same[0];
  if (upstream === undefined) return { problem: `the configuration has no upstream "${task.upstream}" any more` };
  const { videos: videoProtocol } = upstream.services;
  if (videoProtocol === undefined || videoProtocol !== task.protocol)
    return { problem: `the upstream "${task.upstream}" is not configured for ${task.protocol} any more` };
  return { upstream, protocol: protocols[videoProtocol] };
}
