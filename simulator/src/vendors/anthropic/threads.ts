import { hash } from 'node:crypto';
import { asText } from '../../read-json.ts';
import type { Json, JsonRecord, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './anthropic-error.ts';
import type { Message } from './check-messages.ts';
import type { MessagesRequest } from './messages-schema.ts';

/** The vendor's record of a thread under the id of its last reply. */
type StoredThread = {
  readonly messages: readonly Message[];
  readonly system?: Exclude<MessagesRequest['system'], undefined>;
  readonly tools?: Exclude<MessagesRequest['tools'], undefined>;
};

export type Conversation = { readonly body: MessagesRequest; readonly messages: readonly Message[] };

/**
 * The whole conversation of a call: its own messages, or on a thread the stored and the new ones. Refuses an unknown
 * thread, one that was continued already, and fields that only the first call may set.
 */
export function openConversation(request: SimulatedRequest, body: MessagesRequest): Conversation {
  const { thread } = body;
  if (!thread || thread.type === 'create') return { body, messages: body.messages };
  for (const field of ['system', 'tools'] as const) {
    if (body[field] !== undefined) throw refuse(request, `${field}: may not be set when continuing a thread`);
  }
  const id = thread.previous_message_id;
  const stored = request.memory?.get(keyOf(request, id)) as StoredThread | undefined;
  if (stored === undefined) {
    throw refuse(request, `thread.previous_message_id: no thread holds the message ${id}`, 400, { error_code: 'thread_not_found' });
  }
  if (request.memory?.get(`${keyOf(request, id)}/continued`) === true) {
    throw refuse(request, `thread.previous_message_id: the message ${id} was continued already`, 400, {
      error_code: 'thread_already_continued',
    });
  }
  const { messages, ...created } = stored;
  return { body: { ...body, ...created }, messages: [...messages, ...body.messages] };
}

/** Stores the conversation with its reply, so that the next call can continue it. */
export function keepConversation(request: SimulatedRequest, conversation: Conversation, reply: JsonRecord): void {
  const { body, messages } = conversation;
  const { thread } = body;
  if (!thread || request.memory === undefined) return;
  if (thread.type === 'continue') request.memory.set(`${keyOf(request, thread.previous_message_id)}/continued`, true);
  const stored = {
    messages: [...messages, { role: 'assistant', content: reply['content'] }],
    ...(body.system !== undefined && { system: body.system }),
    ...(body.tools !== undefined && { tools: body.tools }),
  };
  request.memory.set(keyOf(request, asText(reply['id'])), stored as unknown as Json);
}

/** Threads belong to the credential that created them: another's is as unknown as one that never existed. */
function keyOf(request: SimulatedRequest, messageId: string): string {
  const owner = hash('sha256', request.headers['x-api-key'] ?? request.headers['authorization'] ?? '').slice(0, 16);
  return `thread/${owner}/${messageId}`;
}
