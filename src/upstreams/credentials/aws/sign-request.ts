import { createHash, createHmac, hash } from 'node:crypto';

import { type Bytes, BytePieces } from '../../../platform/byte-pieces.ts';
import type { AwsKeys } from '../cloud-credential.ts';

/** A request to sign: as it is sent, without the headers that the signature adds. */
export type SignableRequest = {
  readonly method: string;
  /** Path and query as they are sent: each segment is percent-encoded once. */
  readonly path: string;
  readonly host: string;
  readonly body: Bytes | undefined;
};

export type SigningScope = { readonly region: string; readonly service: string };

const algorithm = 'AWS4-HMAC-SHA256';

/** The bytes that a canonical URI has as they are (RFC 3986, unreserved); all others are percent-encoded. */
const reserved = /[!'()*]/g;
const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(reserved, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Signs requests with Signature Version 4. The key of a day is derived once for each scope and secret. Only `host`,
 * `x-amz-date` and `x-amz-security-token` are signed, so that nothing on the way can break the signature by a header.
 * Source: "Create a signed AWS API request" of the IAM user guide.
 */
export function createAwsSigner({
  region,
  service,
}: SigningScope): (request: SignableRequest, keys: AwsKeys, nowMs: number) => Readonly<Record<string, string>> {
  const keyOf = keepLast((date: string, secret: string) => deriveKey(secret, date, region, service));
  // What requests of one second have in common.
  const partsOf = keepLast((second: number, keys: AwsKeys): SecondParts => {
    const time = stampOf(second * 1000);
    const date = time.slice(0, 8);
    const { sessionToken } = keys;
    const scope = `${date}/${region}/${service}/aws4_request`;
    const names = sessionToken === undefined ? 'host;x-amz-date' : 'host;x-amz-date;x-amz-security-token';
    return {
      key: keyOf(date, keys.secretAccessKey),
      headers: { 'x-amz-date': time, ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }) },
      canonical: `x-amz-date:${time}\n${sessionToken === undefined ? '' : `x-amz-security-token:${sessionToken}\n`}\n${names}\n`,
      toSign: `${algorithm}\n${time}\n${scope}\n`,
      authorization: `${algorithm} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=`,
    };
  });
  const targetOf = keepLast(canonicalTarget);
  return ({ method, path, host, body }, keys, nowMs) => {
    const { key, headers, canonical, toSign, authorization } = partsOf(Math.floor(nowMs / 1000), keys);
    const request = `${method}\n${targetOf(path)}\nhost:${host}\n${canonical}${hashBody(body)}`;
    const signature = createHmac('sha256', key)
      .update(`${toSign}${hash('sha256', request)}`)
      .digest('hex');
    return { ...headers, authorization: authorization + signature };
  };
}

/** Parts of signatures, and of the texts that are signed. */
type SecondParts = {
  readonly key: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The canonical headers behind `host`, and the list of all. */
  readonly canonical: string;
  readonly toSign: string;
  readonly authorization: string;
};

/** A function that returns its last result again for the same arguments. */
function keepLast<Arguments extends readonly unknown[], Result>(make: (...given: Arguments) => Result): (...given: Arguments) => Result {
  let last: { readonly given: Arguments; readonly result: Result } | undefined;
  return (...given) => {
    if (last === undefined || given.some((each, index) => each !== last?.given[index])) last = { given, result: make(...given) };
    return last.result;
  };
}

/** A time in the basic form of ISO 8601, in seconds: `20261122T220000Z`. */
function stampOf(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '')}Z`;
}

function deriveKey(secret: string, date: string, region: string, service: string): Buffer {
  let key: Buffer | string = `AWS4${secret}`;
  for (const part of [date, region, service, 'aws4_request']) key = createHmac('sha256', key).update(part).digest();
  // The loop has made it bytes.
  return Buffer.from(key);
}

/** The canonical path and query. */
function canonicalTarget(path: string): string {
  const mark = path.indexOf('?');
  const plain = mark === -1 ? path : path.slice(0, mark);
  const query = mark === -1 ? '' : canonicalQuery(path.slice(mark + 1));
  // Each segment is encoded a second time: services other than S3 demand it.
  return `${plain.split('/').map(encodeStrictly).join('/')}\n${query}`;
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  return [...new URLSearchParams(query)]
    .map(([name, value]) => [encodeStrictly(name), encodeStrictly(value)] as const)
    .toSorted(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** By code, as bytes are compared; the texts are ASCII. */
function compare(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0;
}

function hashBody(body: Bytes | undefined): string {
  if (body === undefined) return hash('sha256', '');
  if (!(body instanceof BytePieces)) return hash('sha256', body);
  const whole = createHash('sha256');
  for (const piece of body.pieces) whole.update(piece);
  return whole.digest('hex');
}
