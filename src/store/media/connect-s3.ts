import { setTimeout as wait } from 'node:timers/promises';

import { S3mini, S3ServiceError } from 's3mini';

import { untilAborted } from '../../platform/until-aborted.ts';
import { MediaStorageError } from '../../tasks/media/media-storage.ts';
import { sendS3Request } from './send-s3-request.ts';

export type S3Settings = {
  /** Address of the service, without the bucket. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** What the names of all objects begin with. */
  readonly prefix?: string;
  /** Whether the bucket stands in the path of addresses or in their host name. Default: in the path, which nearly every service takes. */
  readonly forcePathStyle?: boolean;
  /** Limit of a request with its body; of a download, of the time until it begins. */
  readonly requestMs?: number;
  /** Limit of the wait for the next bytes of a download. */
  readonly idleMs?: number;
  /** How long the first pause between two attempts is; each further one doubles it. */
  readonly pauseMs?: number;
};

export type S3Connector = {
  readonly prefix: string;
  readonly idleMs: number;
  /**
   * Does something with a client whose requests end when the signal aborts, or after the limit of a request. Rejects with MediaStorageError, which says nothing of what the service said, or with the signal's reason.
   */
  readonly ask: <Result>(work: (s3: S3mini) => Promise<Result>, signal?: AbortSignal) => Promise<Result>;
  /** The same where some statuses are no failure: then undefined is the result. */
  readonly askUnless: <Result>(statuses: readonly number[], work: (s3: S3mini) => Promise<Result>) => Promise<Result | undefined>;
  /** A client whose requests end when exactly this signal aborts. */
  readonly connect: (signal: AbortSignal) => S3mini;
  readonly requestMs: number;
  readonly pause: (attempt: number, signal: AbortSignal) => Promise<void>;
};

const defaultRequestMs = 120_000;
const defaultIdleMs = 60_000;
const defaultPauseMs = 500;

export function createS3Connector(settings: S3Settings): S3Connector {
  const { requestMs = defaultRequestMs, pauseMs = defaultPauseMs } = settings;
  const connect = (signal: AbortSignal): S3mini =>
    new S3mini({
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey,
      endpoint: bucketAddress(settings),
      region: settings.region,
      fetch: (input, init) => sendS3Request(input, init, { signal, timeoutMs: requestMs }),
    });
  const withLimit = <Result>(work: (s3: S3mini) => Promise<Result>, signal?: AbortSignal): Promise<Result> => {
    const limit = AbortSignal.timeout(requestMs);
    return work(connect(signal === undefined ? limit : AbortSignal.any([signal, limit])));
  };
  return {
    prefix: settings.prefix ?? '',
    idleMs: settings.idleMs ?? defaultIdleMs,
    requestMs,
    connect,
    ask: (work, signal) =>
      withLimit(work, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw toStorageError(error);
      }),
    askUnless: (statuses, work) =>
      withLimit(work).catch((error: unknown) => {
        if (error instanceof S3ServiceError && statuses.includes(error.status)) return undefined;
        throw toStorageError(error);
      }),
    pause: (attempt, signal) => untilAborted(wait(pauseMs * 2 ** (attempt - 1), undefined, { ref: false }), signal),
  };
}

/** What a failed request to the object store comes to. Bodies of its errors name the access key and what was signed: of them only the code is kept, for the log. */
export function toStorageError(error: unknown): MediaStorageError {
  if (error instanceof MediaStorageError) return error;
  if (!(error instanceof S3ServiceError))
    return new MediaStorageError('unavailable', 'the object store cannot be reached', { cause: error });
  const cause = new Error(`status ${error.status}, code ${error.serviceCode ?? 'unknown'}`);
  return new MediaStorageError('unavailable', `the object store refused with status ${error.status}`, { cause });
}

function bucketAddress({ endpoint, bucket, forcePathStyle = true }: S3Settings): string {
  const url = new URL(endpoint);
  if (forcePathStyle) url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`;
  else url.hostname = `${bucket}.${url.hostname}`;
  return url.href;
}
