import type { ScopedList } from '../accounts/scoped-list.ts';
import type { Delivery, DeliveryStatus } from './callbacks/callback-store.ts';
import type { VideoPhase, VideoTask } from './video-task.ts';

/** Which tasks to list, beside their users and times. */
type TaskQuery = ScopedList & {
  readonly keyId?: string;
  readonly upstream?: string;
  readonly phases?: readonly VideoPhase[];
  /** Only tasks that an operator should examine, or only others. */
  readonly hasAlert?: boolean;
};

/** Which deliveries to list, beside their users and times. */
type DeliveryQuery = ScopedList & { readonly id?: string; readonly subject?: string; readonly status?: DeliveryStatus };

/** Lists over several users for the people who administer them, newest first. */
export type TaskLists = {
  readonly queryTasks: (query: TaskQuery) => Promise<readonly VideoTask[]>;
  readonly queryDeliveries: (query: DeliveryQuery) => Promise<readonly Delivery[]>;
};
