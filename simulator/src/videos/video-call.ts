import type { Json, JsonRecord, SimulatedRequest } from '../simulated-vendor.ts';
import type { VideoJob, VideoJobs, VideoOrder, VideoStanding } from './video-jobs.ts';

/** A call to the routes of a video interface. */
export type VideoCall = {
  readonly request: SimulatedRequest;
  /** Members of the JSON body, or fields of the form; its files are data URIs. */
  readonly fields: JsonRecord;
  /** Digest of the credential. */
  readonly credential: string;
  /** `http://host:port` as the caller reached it. */
  readonly origin: string;
  readonly nowMs: number;
  readonly jobs: VideoJobs;
  /** 24 letters and digits, different for each call, determined by the seed and the earlier calls. */
  readonly newId: () => string;
};

export type JsonAnswer = { readonly status: number; readonly body: Json };

/** The result of a route, which the caller sends with the job's faults. */
export type VideoReply =
  /** `steering` is a script among the request's own members. */
  | {
      readonly type: 'accept';
      readonly order: Omit<VideoOrder, 'vendor' | 'credential' | 'bodySha256' | 'submittedAtMs' | 'idempotencyKey'>;
      readonly steering?: string;
      readonly isIdempotent: boolean;
      readonly write: (job: VideoJob) => JsonAnswer;
    }
  | { readonly type: 'poll'; readonly job: VideoJob; readonly write: (standing: VideoStanding) => JsonAnswer }
  | { readonly type: 'file'; readonly job: VideoJob }
  | ({ readonly type: 'json' } & JsonAnswer);

/** One interface. Undefined: unknown route. Throws VendorError to refuse. */
export type VideoRoutes = (call: VideoCall) => Promise<VideoReply | undefined> | VideoReply | undefined;

/** Where a file can be fetched without a credential, for a vendor with links. */
export const filePath = '/simulated-videos/';

/** The reported address of a job's file, according to its script. Undefined: none. */
export function linkOf(job: VideoJob, usual: string): string | undefined {
  const { link } = job.script;
  if (link === undefined) return usual;
  if (link === 'inside') return 'http://127.0.0.1:1/simulated.mp4';
  if (link === 'metadata') return 'http://169.254.169.254/latest/meta-data/';
  if (link === 'absent') return undefined;
  return link.includes(':') ? link : usual;
}

/** The reported progress, according to the script. Undefined: none. */
export function progressOf(job: VideoJob, standing: VideoStanding): number | string | undefined {
  const true_ = 'progress' in standing ? standing.progress : standing.phase === 'done' ? 100 : 0;
  if (job.script.progress === 'absent') return undefined;
  if (job.script.progress === 'text') return `${true_}%`;
  const isFalling = job.script.progress === 'back' && 'progress' in standing && job.polls % 2 === 0;
  return isFalling ? Math.floor(true_ / 2) : true_;
}
