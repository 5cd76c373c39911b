import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { percentilesOf } from '../conformance/media-load/percentiles.ts';

/**
 * An upstream that generates videos at almost no cost, and records the time of each poll: a process of its own that
 * prints its port. A job has as many bytes as its prompt says (`bytes=…`) and works until `POST /finish`, or is done at
 * once if its prompt says `done`. `GET /polls` returns the times between two polls of the same job, and resets them.
 */
type Job = { readonly bytes: number; readonly isDone: boolean; polledMs: number | undefined };

const jobs = new Map<string, Job>();
let isFinished = false;
let gapsMs: number[] = [];
let polls = 0;
const piece = Buffer.alloc(256 * 1024, 'weir');
/** The first bytes of the MP4 family: any other file is not stored as a video. */
piece.write('\0\0\0\u0018ftypmp42', 'latin1');

function submit(body: string): object {
  const { prompt } = JSON.parse(body) as { readonly prompt: string };
  const id = `job_${jobs.size + 1}`;
  const bytes = Number(/bytes=(\d+)/.exec(prompt)?.[1] ?? 1000);
  jobs.set(id, { bytes, isDone: prompt.includes('done'), polledMs: undefined });
  return { id, object: 'video', status: 'queued', progress: 0 };
}

function poll(id: string, job: Job): object {
  const nowMs = performance.now();
  polls += 1;
  if (job.polledMs !== undefined) gapsMs.push(nowMs - job.polledMs);
  job.polledMs = nowMs;
  const isOver = isFinished || job.isDone;
  return { id, object: 'video', status: isOver ? 'completed' : 'in_progress', progress: isOver ? 100 : 50, seconds: '5' };
}

function sendFile(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      const part = piece.subarray(0, Math.min(left, piece.length));
      left -= part.length;
      if (!response.write(part)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

function tellPolls(): object {
  const reported = { jobs: jobs.size, polls, gapMs: percentilesOf(gapsMs) };
  gapsMs = [];
  polls = 0;
  for (const job of jobs.values()) job.polledMs = undefined;
  return reported;
}

function answer(path: string, body: string): object | undefined {
  if (path === '/v1/video/generations') return submit(body);
  if (path === '/polls') return tellPolls();
  if (path === '/finish') {
    isFinished = true;
    return {};
  }
  const id = /^\/v1\/videos\/(\w+)$/.exec(path)?.[1] ?? '';
  const job = jobs.get(id);
  return job === undefined ? undefined : poll(id, job);
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const path = request.url ?? '';
    const file = jobs.get(/^\/v1\/videos\/(\w+)\/content$/.exec(path)?.[1] ?? '');
    if (file !== undefined) return sendFile(response, file.bytes);
    const said = answer(path, Buffer.concat(chunks).toString());
    response.writeHead(said === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(said ?? { error: { message: 'no such job' } }));
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
