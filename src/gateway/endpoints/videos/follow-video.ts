import { encodeSse } from '../../../platform/sse/encode-sse.ts';
import type { VideoTask } from '../../../tasks/video-task.ts';
import { requestIdHeader } from '../../replies/write-reply.ts';
import { drained } from '../shared/content/write-content.ts';
import { encodeTask } from './encode-task.ts';
import { findTask, statusOf, type VideoContext, type VideoHandler } from './video-context.ts';

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};
const heartbeat = Buffer.from(': heartbeat\n\n');

/** An event with the state of a task: its object and the number of the event. */
function encodeEvent(status: string, text: string, sequence: number): Buffer {
  // The JSON text of the object is unchanged; the number is its last member.
  return encodeSse({ event: `video.${status}`, data: `${text.slice(0, -1)},"sequence":${sequence}}` });
}

/**
 * `GET /v1/videos/{id}/events`: the state of a task, at once and after every change, until the task or the gateway
 * ends. A client that reconnects gets the newest state first, so that it misses nothing.
 */
export const followVideo: VideoHandler = async (context, id) => {
  const { request, response, callId } = context;
  const task = await findTask(context, id);
  response.writeHead(200, { ...headers, [requestIdHeader]: callId });
  if (request.method === 'HEAD') {
    response.end();
    return undefined;
  }
  await new Follower(context, task).run();
  return undefined;
};

class Follower {
  readonly #context: VideoContext;
  readonly #task: VideoTask;
  /** Aborts if the client leaves or does not read, at the longest time of a call, or when the gateway ends. */
  readonly #over = new AbortController();
  #sequence = 0;
  #lastText = '';
  #writtenMs: number;

  constructor(context: VideoContext, task: VideoTask) {
    this.#context = context;
    this.#task = task;
    this.#writtenMs = context.gateway.clock.monotonicMs();
  }

  async run(): Promise<void> {
    const { videos, caller, response, settings, gateway, callId, signal } = this.#context;
    const { heartbeatMs, totalMs } = settings.timeouts;
    const stop = (): void => this.#over.abort();
    const leaving = videos.leaving.signal;
    for (const ending of [signal, leaving]) ending.addEventListener('abort', stop, { once: true });
    if (signal.aborted || leaving.aborted) stop();
    const beat = setInterval(() => void this.#beat(heartbeatMs), Math.max(10, heartbeatMs / 4));
    const total = setTimeout(stop, totalMs);
    try {
      if (await this.#tell(this.#task)) return void response.end();
      for await (const task of videos.tasks.watch(caller.userName, this.#task.id, this.#over.signal))
        if (await this.#tell(task)) return void response.end();
      if (leaving.aborted) return void response.end();
      // The stream ends before the video, and must not look complete.
      response.destroy();
    } catch (error) {
      response.destroy();
      if (!this.#over.signal.aborted) gateway.logger.warn({ callId, err: error }, 'video event stream failed');
    } finally {
      clearInterval(beat);
      clearTimeout(total);
      for (const ending of [signal, leaving]) ending.removeEventListener('abort', stop);
      stop();
    }
  }

  /** Writes the state of the task if it changed. True after the last event. */
  async #tell(task: VideoTask): Promise<boolean> {
    const status = statusOf(task);
    const { text } = encodeTask(this.#context, task);
    const isOver = status === 'completed' || status === 'failed';
    if (text === this.#lastText) return isOver;
    this.#lastText = text;
    await this.#write(encodeEvent(status, text, this.#sequence));
    this.#sequence += 1;
    return isOver;
  }

  async #beat(heartbeatMs: number): Promise<void> {
    const { response, gateway } = this.#context;
    const isQuiet = gateway.clock.monotonicMs() - this.#writtenMs >= heartbeatMs;
    if (isQuiet && !response.writableNeedDrain) await this.#write(heartbeat);
  }

  async #write(bytes: Buffer): Promise<void> {
    const { response, settings } = this.#context;
    this.#writtenMs = this.#context.gateway.clock.monotonicMs();
    if (response.destroyed || response.write(bytes)) return;
    if (await drained(response, { stalledReaderMs: settings.timeouts.stalledReaderMs, signal: this.#over.signal })) return;
    this.#over.abort();
    response.destroy();
  }
}
