import type { ApiKey } from '../../../accounts/api-key.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';

type Quota = {
  readonly store: Pick<TaskStore, 'mediaBytes'>;
  readonly caller: Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits'>;
  /** What the files of a user may have where nothing else is said of the user. */
  readonly userBytesMax: number;
};

/**
 * A user whose files fill the place that they may have gets no further ones, and so does a key that has a place of its own.
 * @throws GatewayError `media_quota_exceeded`
 */
export async function checkMediaQuota({ store, caller, userBytesMax }: Quota): Promise<void> {
  const { id, userName, limits, userLimits } = caller;
  const places = [
    { of: 'user', most: userLimits?.mediaBytesMax ?? userBytesMax, owner: { userName } },
    { of: 'API key', most: limits?.mediaBytesMax, owner: { userName, keyId: id } },
  ];
  for (const { of, most, owner } of places) {
    if (most === undefined) continue;
    const bytes = await store.mediaBytes(owner);
    if (bytes < most) continue;
    const message = `The files of this ${of} have ${bytes} bytes together, and ${most} are allowed. Delete videos, or wait until files expire.`;
    throw new GatewayError('media_quota_exceeded', message);
  }
}
