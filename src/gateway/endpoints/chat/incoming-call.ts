import type { IncomingMessage } from 'node:http';

import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { Operation } from '../../../dialects/dialect-id.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import type { ClientReply } from '../../replies/client-reply.ts';

/** A request to a chat route. */
export type IncomingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly dialect: ChatDialect;
  readonly operation: Operation;
  readonly queryKeys: readonly string[];
  readonly pathModel?: string | undefined;
  readonly pathFraming?: StreamFraming | undefined;
};

/** The identity of a chat for its attempts. */
export function identify({ callId, dialect }: IncomingCall): Pick<AttemptedCall, 'callId' | 'label'> {
  return { callId, label: dialect.id };
}
