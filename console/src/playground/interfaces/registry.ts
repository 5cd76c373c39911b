import type { ChatInterface, InterfaceId } from '../conversation.ts';
import { chatCompletions } from './chat-completions.ts';
import { generateContent } from './generate-content.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

/** The interfaces of chats, in the order of the choice. */
export const chatInterfaces: Readonly<Record<InterfaceId, ChatInterface>> = {
  messages,
  responses,
  'generate-content': generateContent,
  'chat-completions': chatCompletions,
};
// The keys are those of the table.
export const interfaceIds = Object.keys(chatInterfaces) as readonly InterfaceId[];

export const isInterfaceId = (text: string): text is InterfaceId => Object.hasOwn(chatInterfaces, text);

/** The interface that has this name in the books. */
export function interfaceOfBook(book: string): InterfaceId | undefined {
  return interfaceIds.find((id) => chatInterfaces[id].book === book);
}
