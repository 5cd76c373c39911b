import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VideoTask } from '../../../tasks/video-task.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { VideoService } from './video-service.ts';
import type { VideoServices } from './video-services.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import type { CallReport } from '../../telemetry/call-report.ts';

/** A request about videos, of an authenticated caller. */
export type VideoContext = {
  readonly gateway: VideoServices;
  readonly videos: VideoService;
  /** The settings at the time of the request. */
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  readonly admission: Admission;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly callId: string;
  readonly query: URLSearchParams;
  /** The scheme and host by which clients reach the gateway. */
  readonly baseUrl: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Set for a request that makes a video. */
  readonly report: CallReport | undefined;
};

/** A request for a file. Its caller has a key, or a link of the file's owner. */
export type ContentContext = Pick<
  VideoContext,
  'gateway' | 'videos' | 'settings' | 'request' | 'response' | 'callId' | 'query' | 'signal'
> & {
  readonly caller: Pick<ApiKey, 'userName'>;
};

/** An answer: JSON unless its headers have another type. */
export type VideoAnswer = { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> };

/** Answers a request; undefined if the answer is written already. */
export type VideoHandler = (context: VideoContext, id: string) => Promise<VideoAnswer | undefined>;

/** The same message for unknown videos and those of other users. */
export function unknownVideo(id: string): GatewayError {
  return new GatewayError('object_not_found', `No such video: ${JSON.stringify(id.slice(0, 80))}.`, { param: 'id' });
}

/** A task of the caller's user. @throws GatewayError `object_not_found` */
export async function findTask({ videos, caller }: Pick<ContentContext, 'videos' | 'caller'>, id: string): Promise<VideoTask> {
  const task = await videos.tasks.find(caller.userName, id);
  if (task === undefined) throw unknownVideo(id);
  return task;
}

/** The status of a task in the interface. */
export function statusOf({ phase }: Pick<VideoTask, 'phase'>): 'queued' | 'in_progress' | 'completed' | 'failed' {
  if (phase === 'submitting') return 'queued';
  return phase === 'storing' ? 'in_progress' : phase;
}
