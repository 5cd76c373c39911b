import type { MessagePort } from 'node:worker_threads';

import { type AnswerReply, type AnswerRequest, encodeFailure, type Opens, piecesAhead } from './protocol.ts';

/** A running answer: how many pieces the other side accepts, and the function that resumes it. */
type Serving = { readonly ending: AbortController; allowed: number; goOn: () => void };

/**
 * Answers the queries of the other thread, with back-pressure.
 * @param close called after the last query, when running answers are aborted
 */
export function serveAnswers<Question>(port: MessagePort, answers: Opens<Question>, close: () => Promise<void>): void {
  const serving = new Map<number, Serving>();
  const reply = (message: AnswerReply, transferred: ArrayBuffer[] = []): void => port.postMessage(message, transferred);

  async function serve(id: number, question: Question): Promise<void> {
    const one: Serving = { ending: new AbortController(), allowed: piecesAhead, goOn: () => undefined };
    const { signal } = one.ending;
    signal.addEventListener('abort', () => one.goOn(), { once: true });
    serving.set(id, one);
    try {
      const pieces = await answers.open(question, signal);
      reply({ type: 'opened', id });
      try {
        for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
          reply({ type: 'piece', id, bytes: next.value }, [next.value.buffer]);
          one.allowed -= 1;
          if (one.allowed === 0) await new Promise<void>((resolve) => (one.goOn = resolve));
          signal.throwIfAborted();
        }
      } finally {
        await pieces.return?.();
      }
      reply({ type: 'over', id });
    } catch (error) {
      reply({ type: 'failed', id, failure: encodeFailure(error) });
    } finally {
      serving.delete(id);
    }
  }

  async function closeAll(): Promise<void> {
    for (const { ending } of serving.values()) ending.abort(new Error('The thread is closing.'));
    await close();
    port.close();
  }

  port.on('message', (request: AnswerRequest<Question>) => {
    if (request.type === 'close') {
      void closeAll();
      return;
    }
    const one = serving.get(request.id);
    if (request.type === 'open') void serve(request.id, request.question);
    else if (request.type === 'end') one?.ending.abort(new Error('Nobody takes the answer any more.'));
    else if (one !== undefined) {
      one.allowed += 1;
      one.goOn();
    }
  });
}
