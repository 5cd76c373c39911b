import type { ApiKey } from '../../../accounts/api-key.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';

type Quota = {
  readonly store: Pick<TaskStore, 'mediaBytes'>;
  readonly caller: Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits'>;
  /** The most bytes that the files of a user may have, unless the user has a limit of its own. */
  readonly userBytesMax: number;
};

/**
 * Refuses a new file if the files of the user, or of a key with a limit of its own, have reached their limit.
 * @throws GatewayError `media_quota_exceeded`
 */
export async function checkMediaQuota({ store, caller, userBytesMax }: Quota): Promise<void> {
  const { id, userName, limits, userLimits } = caller;
  const quotas = [
    { of: 'user', bytesMax: userLimits?.mediaBytesMax ?? userBytesMax, owner: { userName } },
    { of: 'API key', bytesMax: limits?.mediaBytesMax, owner: { userName, keyId: id } },
  ];
  for (const { of, bytesMax, owner } of quotas) {
    if (bytesMax === undefined) continue;
    const bytes = await store.mediaBytes(owner);
    if (bytes < bytesMax) continue;
    const message = `The files of this ${of} have ${bytes} bytes, and at most ${bytesMax} are allowed. Delete videos, or wait until files expire.`;
    throw new GatewayError('media_quota_exceeded', message);
  }
}
