import { setTimeout as wait } from 'node:timers/promises';

import { S3mini, S3ServiceError } from 's3mini';

import { untilAborted } from '../../platform/until-aborted.ts';
import { MediaStorageError } from '../../tasks/media/media-storage.ts';
import { sendS3Request } from './send-s3-request.ts';

export type S3Settings = {
  /** Address of the service, without the bucket name. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The start of every object name. */
  readonly prefix?: string;
  /**
   * Whether the bucket name is in the path of addresses or in the host name. Default: the path, which nearly every
   * service accepts.
   */
  readonly forcePathStyle?: boolean;
  /** Time limit of a request with its body; for a download, until it begins. */
  readonly requestMs?: number;
  /** Time limit for the next bytes of a download. */
  readonly idleMs?: number;
  /** The pause before the first retry; each further pause is twice as long. */
  readonly pauseMs?: number;
};

export type S3Connector = {
  readonly prefix: string;
  readonly idleMs: number;
  /**
   * Calls `work` with a client whose requests end when the signal aborts, or after the time limit. Rejects with
   * MediaStorageError, which contains no text of the service, or with the reason of the signal.
   */
  readonly ask: <Result>(work: (s3: S3mini) => Promise<Result>, signal?: AbortSignal) => Promise<Result>;
  /** As `ask`, but a response with one of these statuses resolves with undefined. */
  readonly askUnless: <Result>(statuses: readonly number[], work: (s3: S3mini) => Promise<Result>) => Promise<Result | undefined>;
  /** A client whose requests end only when this signal aborts. */
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

/**
 * Converts the error of a request to the object store. Its error bodies contain the access key and the signed text, so
 * only the code is kept, for the log.
 */
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
