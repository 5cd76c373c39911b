import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { requestIdHeader } from '../../replies/reply-headers.ts';
import type { ClientReply } from '../../replies/client-reply.ts';

/** As long as a real id, and in no text of ours. */
const idMark = 'req_~~~~~~~~~~~~~~~~~~~~~~~~~~';

type PreparedAnswer = { readonly error: GatewayError; readonly status: number; readonly headers: readonly string[]; readonly text: string };

/** Answers by voice and seconds: a few for each voice. */
const prepared = new Map<Pick<ErrorVoice, 'encodeError'>, Map<number, PreparedAnswer>>();

/**
 * Answers a call that is not let in. Such answers are written when there is no time for anything: their texts are made once, and only the id of the call is put in.
 * @returns what the client is told
 */
export function shedCall(
  response: ClientReply,
  voice: Pick<ErrorVoice, 'encodeError'>,
  callId: string,
  retryAfterSeconds: number,
): GatewayError {
  let answers = prepared.get(voice);
  if (answers === undefined) {
    answers = new Map();
    prepared.set(voice, answers);
  }
  let answer = answers.get(retryAfterSeconds);
  if (answer === undefined) {
    answer = prepare(voice, retryAfterSeconds);
    answers.set(retryAfterSeconds, answer);
  }
  if (response.headersSent || response.destroyed) return answer.error;
  const text = answer.text.replaceAll(idMark, callId);
  response.writeHead(answer.status, [
    ...answer.headers.map((value) => (value === idMark ? callId : value)),
    'content-length',
    String(text.length),
  ]);
  response.end(text, 'latin1');
  return answer.error;
}

function prepare(voice: Pick<ErrorVoice, 'encodeError'>, retryAfterSeconds: number): PreparedAnswer {
  const message = `The gateway is overloaded: it has more requests than it can serve at the moment. Please try again in ${retryAfterSeconds}s.`;
  const error = new GatewayError('overloaded', message, { retryAfterSeconds });
  const reply = voice.encodeError(error, idMark);
  const headers = { ...reply.headers, [requestIdHeader]: idMark };
  return { error, status: reply.status, headers: Object.entries(headers).flat(), text: reply.body.toString('latin1') };
}
