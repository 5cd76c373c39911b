import { hash } from 'node:crypto';

/**
 * The call that an attempt is made for. A failure may be the work of the request itself, so health asks whose it is and which; and the attempts
 * of one call count once.
 */
export type AskingCall = {
  /** The user whose call it is. */
  readonly caller: string;
  /** Tells its request from others of its caller. Asked for when it has failed. */
  readonly digest: () => string;
  /** The targets at which a failure of it was counted. */
  readonly countedAt: object[];
};

export function createAskingCall(caller: string, digest: () => string): AskingCall {
  return { caller, digest, countedAt: [] };
}

/** Bytes that are looked at from the beginning and from the end: requests that go on from the same conversation differ in their last turn. */
const headBytes = 16 * 1024;
const tailBytes = 48 * 1024;

/** A digest of a request, cheap for one of any size. */
export function digestRequest(bytes: Buffer): string {
  const { length } = bytes;
  if (length <= headBytes + tailBytes) return `${length} ${hash('sha1', bytes)}`;
  return `${length} ${hash('sha1', bytes.subarray(0, headBytes))} ${hash('sha1', bytes.subarray(length - tailBytes))}`;
}
