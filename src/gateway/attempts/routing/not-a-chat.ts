import type { RankedCall } from './rank-targets.ts';

/** What routing looks at in chats, for calls that are none: embeddings, sound and videos have nothing of it. */
export const notAChat: RankedCall['dialect'] = {
  id: 'openai-chat',
  readFeatures: () => ({ images: false, documents: false, audio: false, tools: false }),
  readConversation: () => '',
};
