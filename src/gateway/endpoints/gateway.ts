import type { Idempotency } from '../../billing/idempotency/idempotency.ts';
import type { AccountServices } from './account/account-services.ts';
import type { AudioServices } from './audio/audio-services.ts';
import type { ChatServices } from './chat/chat-services.ts';
import type { ImageServices } from './images/image-services.ts';
import type { StoredObjects } from './stored-objects/stored-objects.ts';
import type { VideoServices } from './videos/video-services.ts';

/** All services of the endpoints. Each endpoint takes only the part that it needs. */
export type Gateway = ChatServices &
  AudioServices &
  ImageServices &
  VideoServices &
  AccountServices & {
    readonly storedObjects: StoredObjects;
    /** Requests that are safe to repeat; absent if nothing is stored for them. */
    readonly idempotency?: Idempotency | undefined;
  };
