import { type BackgroundRuns, createBackgroundRuns } from '../gateway/background/background-runs.ts';
import { cancelResponse } from '../gateway/background/cancel-response.ts';
import { followResponse } from '../gateway/background/follow-response.ts';
import type { StoredObjects } from '../gateway/conversations/serve-stored-objects.ts';
import type { GatewaySettings } from '../gateway/gateway.ts';
import { openConversations } from './open-conversations.ts';

/** Opens what is stored for users, and the responses that are generated in the background. Closed by `opened`. */
export function openStoredObjects(
  options: Parameters<typeof openConversations>[0] & { readonly settings: () => GatewaySettings },
  opened: AsyncDisposableStack,
): { readonly storedObjects: StoredObjects; readonly background: BackgroundRuns } {
  const conversations = openConversations(options, opened);
  const { clock, logger, settings } = options;
  const background = createBackgroundRuns({ conversations, clock, logger });
  return {
    background,
    storedObjects: {
      conversations,
      streamStored: (stream) => followResponse({ background, clock, settings }, stream),
      cancelStored: (userName, id) => cancelResponse(background, userName, id),
    },
  };
}
