import { createBackgroundRuns } from '../../gateway/endpoints/chat/background/background-runs.ts';
import { cancelResponse } from '../../gateway/endpoints/chat/background/cancel-response.ts';
import { followResponse } from '../../gateway/endpoints/chat/background/follow-response.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import type { Gateway } from '../../gateway/endpoints/gateway.ts';
import { deleteAtKeeper } from '../../gateway/endpoints/chat/responses/delete-at-keeper.ts';
import { openConversations } from './open-conversations.ts';

/** Opens stored objects, and responses that are generated in the background. Closed by `opened`. */
export function openStoredObjects(
  options: Parameters<typeof openConversations>[0] & { readonly settings: () => GatewaySettings },
  opened: AsyncDisposableStack,
): Pick<Gateway, 'storedObjects' | 'background' | 'conversations'> {
  const conversations = openConversations(options, opened);
  const { clock, logger, settings } = options;
  const background = createBackgroundRuns({ conversations, clock, logger });
  return {
    background,
    conversations,
    storedObjects: {
      conversations,
      streamStored: (stream) => followResponse({ background, clock, settings }, stream),
      deleteAtKeeper: (keeper, id) => deleteAtKeeper(settings().routing, keeper, id),
      cancelStored: (userName, id) => cancelResponse(background, userName, id),
    },
  };
}
