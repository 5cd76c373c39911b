import { chatDialects } from '../../../dialects/registry.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';

const { codec } = chatDialects['openai-chat'];

/** Reads an upstream's error answer, to be worded anew: the shapes of OpenAI and of those who imitate it. */
export const readErrorAnswer: ReplyRelay['readError'] = ({ status, headers, body }) => {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return codec.decodeError({ status, body, ...(Number.isFinite(seconds) && { retryAfterSeconds: Math.ceil(seconds) }) });
};
