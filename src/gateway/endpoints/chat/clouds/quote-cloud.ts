import type { Quote } from '../../shared/endpoint.ts';
import type { ChatServices } from '../chat-services.ts';
import type { ChatPath } from '../incoming-call.ts';
import { quoteChat } from '../quote-chat.ts';
import { openChat } from './open-chat.ts';

/** Prices a chat in a cloud's form as the chat that it is. Undefined for counts, which are free. */
export function quoteCloud({ dialect, operation, cloud = {}, ...path }: ChatPath): Quote<ChatServices> | undefined {
  if (operation === 'count-tokens') return undefined;
  return async (target) => {
    const { settings, headers, bytes, body, caller } = target;
    const opening = { limits: settings.limits, table: settings.routing, headers, isStrict: caller.strictTranslation };
    const { pathModel = path.pathModel, ...opened } = await openChat({ bytes, body }, { dialect, cloud, ...path }, opening);
    return await quoteChat({ ...target, ...opened }, { dialect, operation, ...path, pathModel });
  };
}
