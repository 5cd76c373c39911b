import type { IncomingMessage } from 'node:http';

import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { Operation } from '../../../dialects/dialect-id.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import type { ClientReply } from '../../replies/client-reply.ts';

/** A request that a chat route has recognised. */
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

/** What the attempts of a chat know it by. */
export function identify({ callId, dialect }: IncomingCall): Pick<AttemptedCall, 'callId' | 'label'> {
  return { callId, label: dialect.id };
}
