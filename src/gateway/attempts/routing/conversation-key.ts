import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import { hashText } from './conversation-hash.ts';

/**
 * Headers by which agent programs name their session, ours first: Claude Code, Codex, opencode, pi and the like. None of them names a user, whose calls at one
 * target would be no conversation.
 */
const sessionHeaders = [
  'x-weir-session',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'conversation_id',
  'x-session-id',
  'x-session-affinity',
] as const;

/** A session is an id; more of it would only cost time. */
const sessionCharactersMax = 256;

/** The hash of the conversation that a call belongs to. Two users never share one by sending the same, except by chance. */
export function hashConversation(dialect: Pick<ChatDialect, 'readConversation'> | undefined, request: WireRequest, userId: string): number {
  return hashText(readSession(request.headers) ?? dialect?.readConversation(request) ?? '', hashText(userId));
}

function readSession(headers: WireRequest['headers']): string | undefined {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value.slice(0, sessionCharactersMax);
  }
  return undefined;
}
