import type { TranslationClient } from '../conversation.ts';
import { chatClient } from './chat-client.ts';
import { generateClient } from './generate-client.ts';
import { messagesClient } from './messages-client.ts';
import { responsesClient } from './responses-client.ts';

/** A client of each dialect, none of which shares code with the gateway's own codecs. */
export const translationClients: readonly TranslationClient[] = [messagesClient, responsesClient, chatClient, generateClient];
