import type { TextPart, ToolCallPart, ToolResultPart, Turn } from '../inference-request.ts';

// Pieces of a conversation, for tests.

export const user = (...parts: Turn['parts']): Turn => ({ role: 'user', parts });
export const assistant = (...parts: Turn['parts']): Turn => ({ role: 'assistant', parts });
export const text = (words: string): TextPart => ({ kind: 'text', text: words });
export const call = (id: string, name = 'f', args = '{}'): ToolCallPart => ({ kind: 'tool-call', id, name, arguments: args });
export const result = (callId: string, words = 'ok', isError = false): ToolResultPart => ({
  kind: 'tool-result',
  callId,
  content: [text(words)],
  isError,
});
