import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Busboy } from '@fastify/busboy';

/** A call as the upstream received it. */
export type SeenCall = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Of a form: its parts in their order, files by their names. */
  readonly parts: readonly {
    readonly name: string;
    readonly value?: string;
    readonly filename?: string;
    readonly type?: string;
    readonly bytes?: number;
  }[];
};

/** The upstream's reaction to a call, which has been read to its end unless `early` is set. */
export type Answer = (call: SeenCall, response: ServerResponse) => void | Promise<void>;

/** An audio server in the test's own process that answers as a test says, and records the requests. */
export type AudioUpstream = {
  readonly url: string;
  readonly calls: SeenCall[];
  answer: Answer;
  /** Answers before the body has arrived. */
  early: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Calls whose client disconnected before its answer was complete. */
  left: number;
  readonly close: () => Promise<void>;
};

function readForm(headers: IncomingMessage['headers'], body: Buffer): Promise<SeenCall['parts']> {
  const type = headers['content-type'] ?? '';
  if (!type.startsWith('multipart/')) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    const parts: SeenCall['parts'][number][] = [];
    const parser = new Busboy({ headers: { ...headers, 'content-type': type } });
    parser.on('field', (name, value) => void parts.push({ name, value }));
    parser.on('file', (name, stream, filename, _encoding, partType) => {
      const place = parts.push({ name, filename, type: partType }) - 1;
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
      stream.on('end', () => (parts[place] = { name, filename, type: partType, bytes }));
    });
    parser.on('finish', () => resolve(parts));
    parser.on('error', reject);
    parser.end(body);
  });
}

/** Starts it on a free port. */
export async function startAudioUpstream(answer: Answer): Promise<AudioUpstream> {
  const server: Server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) upstream.left += 1;
    });
    response.on('error', () => {});
    request.on('error', () => {});
    if (upstream.early?.(request, response) === true) return;
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      void readForm(request.headers, body).then((parts) => {
        const call = { path: request.url ?? '', headers: request.headers, body, parts };
        upstream.calls.push(call);
        return upstream.answer(call, response);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: AudioUpstream = {
    url: `http://127.0.0.1:${port}/v1`,
    calls: [],
    answer,
    early: undefined,
    left: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return upstream;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Sixteen-bit samples of silence with their header: a recording of exactly this many seconds. */
export function makeWav(seconds: number, rate = 16_000): Buffer {
  const data = Math.round(seconds * rate) * 2;
  const wav = Buffer.alloc(44 + data);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(36 + data, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(rate, 24);
  wav.writeUInt32LE(rate * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(data, 40);
  return wav;
}
