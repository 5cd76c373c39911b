import type { Server } from 'node:http';

import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';
import type { GoogleTokens } from './google-tokens.ts';

export type StorageState = {
  /** Files by `gs://bucket/name`. */
  readonly objects: ReadonlyMap<string, Uint8Array>;
  readonly requests: { readonly url: string; readonly authorization: string | undefined; readonly status: number }[];
};

const objectPath = /^\/storage\/v1\/b\/([^/]+)\/o\/([^/]+)$/;

/** Downloads by the JSON API of Google Cloud Storage. */
export function createStorageServer(state: StorageState, tokens: GoogleTokens): Server {
  return createWholeServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://storage');
    const { authorization } = request.headers;
    const [, bucket, name = ''] = objectPath.exec(pathname) ?? [];
    const file = state.objects.get(`gs://${bucket}/${decodeURIComponent(name)}`);
    const isKnown = tokens.find((authorization ?? '').replace(/^Bearer /, '')) !== undefined;
    const status = !isKnown ? 401 : file === undefined || searchParams.get('alt') !== 'media' ? 404 : 200;
    state.requests.push({ url: request.url ?? '', authorization, status });
    if (status !== 200 || file === undefined) return replyJson(response, status, { error: { code: status, message: 'refused' } });
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(file.length) });
    response.end(file);
  });
}
