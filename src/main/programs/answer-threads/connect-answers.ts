import type { Worker } from 'node:worker_threads';

import { StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import { type AnswerReply, type AnswerRequest, decodeFailure, type Opens } from './protocol.ts';

/** The used part of a worker; a port fits too. */
export type AnswerPort = Pick<Worker, 'postMessage' | 'on'>;

/** The asking side of a thread. */
export type AnswerConnection<Question> = Opens<Question> & {
  /** The number of running answers. */
  readonly count: () => number;
  /** Fails every running answer, because the thread has ended. */
  readonly fail: (error: Error) => void;
};

/** An answer on this side: its received pieces, and the reader that waits. */
type Taking = {
  readonly opened: PromiseWithResolvers<void>;
  readonly pieces: Uint8Array<ArrayBuffer>[];
  end: { readonly error?: Error } | undefined;
  wake: () => void;
};

export function connectAnswers<Question>(port: AnswerPort): AnswerConnection<Question> {
  const taking = new Map<number, Taking>();
  let lastId = 0;
  const send = (request: AnswerRequest<Question>): void => port.postMessage(request);

  port.on('message', (reply: AnswerReply) => {
    const one = taking.get(reply.id);
    // The reader has stopped.
    if (one === undefined) return;
    if (reply.type === 'opened') one.opened.resolve();
    else if (reply.type === 'piece') one.pieces.push(reply.bytes);
    else end(reply.id, one, reply.type === 'over' ? {} : { error: decodeFailure(reply.failure) });
    one.wake();
  });

  function end(id: number, one: Taking, how: { readonly error?: Error }): void {
    one.end ??= how;
    if (how.error !== undefined) one.opened.reject(how.error);
    taking.delete(id);
    one.wake();
  }

  async function open(question: Question, signal: AbortSignal): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>, undefined>> {
    signal.throwIfAborted();
    const id = (lastId += 1);
    const one: Taking = { opened: Promise.withResolvers(), pieces: [], end: undefined, wake: () => undefined };
    taking.set(id, one);
    const giveUp = (): void => {
      if (one.end !== undefined) return;
      end(id, one, { error: signal.reason as Error });
      send({ type: 'end', id });
    };
    signal.addEventListener('abort', giveUp, { once: true });
    send({ type: 'open', id, question });
    await one.opened.promise;
    return take(id, one);
  }

  async function* take(id: number, one: Taking): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    try {
      for (;;) {
        const bytes = one.pieces.shift();
        if (bytes !== undefined) {
          if (one.end === undefined) send({ type: 'more', id });
          yield bytes;
        } else if (one.end !== undefined) {
          if (one.end.error !== undefined) throw one.end.error;
          return undefined;
        } else {
          await new Promise<void>((resolve) => (one.wake = resolve));
        }
      }
    } finally {
      if (one.end === undefined) {
        end(id, one, {});
        send({ type: 'end', id });
      }
    }
  }

  return {
    open,
    count: () => taking.size,
    fail: (error) => {
      for (const [id, one] of taking) end(id, one, { error: new StatisticsUnavailableError(error) });
    },
  };
}
