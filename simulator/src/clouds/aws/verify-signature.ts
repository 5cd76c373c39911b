import { createHash, createHmac } from 'node:crypto';

/** A request as it came, with the bytes of its body. */
export type ReceivedRequest = {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
};

/** Keys that the simulated cloud knows. */
export type KnownKeys = {
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Absent: they do not end. */
  readonly expiresAtMs?: number;
};

export type Refusal = { readonly status: number; readonly type: string; readonly message: string };

const refuse = (type: string, message: string): Refusal => ({ status: 403, type, message });
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

/** A signature is accepted for five minutes before and after its time. */
const skewMsMax = 300_000;

const strictly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

function canonicalQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      const parts = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      return parts.map((part) => strictly(decodeURIComponent(part.replaceAll('+', ' ')))).join('=');
    });
  return pairs.toSorted((first, second) => (first < second ? -1 : 1)).join('&');
}

/**
 * Verifies a signature of version 4 as AWS does, from the published algorithm: it recomputes the canonical request from
 * what came. Returns the refusal, or undefined if the signature is right.
 */
export function verifySignature(
  request: ReceivedRequest,
  scope: { readonly region: string; readonly service: string },
  findKeys: (accessKeyId: string) => KnownKeys | undefined,
  nowMs: number,
): Refusal | undefined {
  const { method, target, headers, body } = request;
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    );
  const time = headers['x-amz-date'];
  if (parsed === null || time === undefined) return refuse('MissingAuthenticationTokenException', 'Missing Authentication Token');
  const [, id = '', date = '', region = '', service = '', signed = '', signature = ''] = parsed;
  const keys = findKeys(id);
  if (keys === undefined) return refuse('UnrecognizedClientException', 'The security token included in the request is invalid.');
  if (keys.sessionToken !== headers['x-amz-security-token'])
    return refuse('UnrecognizedClientException', 'The security token included in the request is invalid.');
  if (keys.expiresAtMs !== undefined && keys.expiresAtMs <= nowMs)
    return refuse('ExpiredTokenException', 'The security token included in the request is expired');
  if (region !== scope.region) return refuse('InvalidSignatureException', `Credential should be scoped to a valid region.`);
  if (service !== scope.service)
    return refuse('InvalidSignatureException', `Credential should be scoped to correct service: '${scope.service}'.`);
  const names = signed.split(';');
  const needed = ['host', 'x-amz-date', ...(keys.sessionToken === undefined ? [] : ['x-amz-security-token'])];
  if (!needed.every((name) => names.includes(name)) || names.toSorted().join(';') !== signed)
    return refuse('InvalidSignatureException', 'The signed headers are incomplete or not in order.');
  const signedAtMs = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(signedAtMs) || !time.startsWith(date))
    return refuse('InvalidSignatureException', 'Date in Credential scope does not match the date.');
  if (signedAtMs < nowMs - skewMsMax)
    return refuse('InvalidSignatureException', `Signature expired: ${time} is now earlier than the accepted time.`);
  if (signedAtMs > nowMs + skewMsMax)
    return refuse('InvalidSignatureException', `Signature not yet current: ${time} is still later than the accepted time.`);
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`).join('');
  const canonical = [method, path.split('/').map(strictly).join('/'), canonicalQuery(query), lines, signed, sha256(body)].join('\n');
  const credentialScope = `${date}/${region}/${service}/aws4_request`;
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${credentialScope}\n${sha256(canonical)}`;
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(
    (from, part) => hmac(from, part),
    `AWS4${keys.secretAccessKey}`,
  );
  if (hmac(key, toSign).toString('hex') === signature) return undefined;
  return refuse('InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.');
}
