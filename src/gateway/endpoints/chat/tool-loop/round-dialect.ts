import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';

const nothing = Buffer.alloc(0);

/** The dialect of one round, and what its bytes stand for. */
export type RoundDialect = {
  readonly dialect: ChatDialect;
  /** The events that this many bytes stand for. */
  readonly take: (bytes: number) => readonly InferenceEvent[];
};

/**
 * The client's dialect as one round of the loop speaks it: its request is the neutral one at hand, and its stream is one byte for each event.
 * So everything that holds back, drops or passes on bytes of a reply does so with its events, whatever attempt they are of.
 */
export function createRoundDialect(client: ChatDialect, request: InferenceRequest, onError: (error: GatewayError) => void): RoundDialect {
  let written: InferenceEvent[] = [];
  const codec: ChatDialect['codec'] = {
    ...client.codec,
    decodeRequest: () => request,
    createEventEncoder: () => {
      // Each attempt writes with an encoder of its own; what an earlier one wrote and nobody took is void.
      written = [];
      return {
        write: (event) => {
          written.push(event);
          return '.';
        },
        position: () => ({ framesSent: 0 }),
      };
    },
  };
  return {
    dialect: {
      ...client,
      codec,
      voice: {
        ...client.voice,
        encodeError: (error) => {
          onError(error);
          return { status: error.status, headers: {}, body: nothing };
        },
        encodeStreamError: (error) => {
          onError(error);
          return nothing;
        },
        heartbeat: () => nothing,
      },
    },
    take: (bytes) => written.splice(0, bytes),
  };
}
