import { rm, mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import S3rver from 's3rver';

import { removal } from './start-weir.ts';

/** Handles a request instead of the object store. False leaves it to the store. */
type Interference = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

export type ObjectStore = AsyncDisposable & {
  readonly settings: {
    readonly endpoint: string;
    readonly region: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  /** Requests so far, as method and path with query. */
  readonly requests: readonly string[];
  /** Uploads that were begun and neither completed nor aborted. */
  readonly unfinished: () => Promise<readonly string[]>;
  /** The file that holds an object's bytes. */
  readonly pathOf: (key: string) => string;
  readonly interfere: (interference: Interference | undefined) => void;
};

const bucket = 'videos';

/**
 * An object store on a port of its own: s3rver, with three corrections. s3rver refuses unknown keys, and does not
 * compute signatures of version 4. It cannot abort a multipart upload or list unfinished ones, and returns the whole
 * file for a range that is its first byte.
 */
export async function startObjectStore(): Promise<ObjectStore> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-objects-'));
  const store = new S3rver({
    directory,
    silent: true,
    vhostBuckets: false,
    allowMismatchedSignatures: false,
    configureBuckets: [{ name: bucket }],
  });
  await store.configureBuckets();
  const serve = store.callback();
  const requests: string[] = [];
  let interference: Interference | undefined;
  const uploads = join(directory, bucket, '._S3rver_uploads');
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    if (interference?.(request, response, url) === true) return;
    if (request.method === 'GET' && url.searchParams.has('uploads')) void listUploads(uploads, response);
    else if (request.method === 'DELETE' && url.searchParams.has('uploadId'))
      void abortUpload(join(uploads, url.searchParams.get('uploadId') ?? ''), response);
    else if (request.method === 'GET' && request.headers.range === 'bytes=0-0')
      void serveFirstByte(join(directory, `${url.pathname}._S3rver_object`), response);
    else serve(request, response);
  };
  // Longer than its clients keep idle connections, so that they never use one that is being closed.
  const server = createServer({ keepAliveTimeout: 120_000 }, listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket,
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    requests,
    unfinished: () => readdir(uploads).catch(() => []),
    pathOf: (key) => join(directory, bucket, `${key}._S3rver_object`),
    interfere: (next) => {
      interference = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await rm(directory, removal);
    },
  };
}

async function listUploads(uploads: string, response: ServerResponse): Promise<void> {
  const names = await readdir(uploads).catch(() => []);
  const entries = await Promise.all(
    names.map(async (id) => {
      // An upload may end, or just begin, while they are listed.
      const key = await readFile(join(uploads, id, 'key'), 'utf8').catch(() => undefined);
      const found = await stat(join(uploads, id)).catch(() => undefined);
      if (key === undefined || found === undefined) return '';
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${found.mtime.toISOString()}</Initiated></Upload>`;
    }),
  );
  response.setHeader('content-type', 'application/xml');
  response.end(
    `<?xml version="1.0"?><ListMultipartUploadsResult><Bucket>${bucket}</Bucket>${entries.join('')}</ListMultipartUploadsResult>`,
  );
}

async function abortUpload(directory: string, response: ServerResponse): Promise<void> {
  const known = await stat(directory).catch(() => undefined);
  // A part may be in transit.
  await rm(directory, removal);
  response.statusCode = known === undefined ? 404 : 204;
  response.end();
}

async function serveFirstByte(path: string, response: ServerResponse): Promise<void> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) response.writeHead(404).end();
  else response.writeHead(206, { 'content-range': `bytes 0-0/${bytes.length}`, 'content-length': 1 }).end(bytes.subarray(0, 1));
}
