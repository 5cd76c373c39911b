import type { Idempotency } from '../../billing/idempotency/idempotency.ts';
import type { AccountServices } from './account/account-services.ts';
import type { AudioServices } from './audio/audio-services.ts';
import type { ChatServices } from './chat/chat-services.ts';
import type { ImageServices } from './images/image-services.ts';
import type { StoredObjects } from './stored-objects/stored-objects.ts';
import type { VideoServices } from './videos/video-services.ts';

/** All that the endpoints work with. An endpoint takes the part of it that it needs, and never the whole. */
export type Gateway = ChatServices &
  AudioServices &
  ImageServices &
  VideoServices &
  AccountServices & {
    readonly storedObjects: StoredObjects;
    /** Requests that are safe to repeat; absent where nothing is kept of them. */
    readonly idempotency?: Idempotency | undefined;
  };
