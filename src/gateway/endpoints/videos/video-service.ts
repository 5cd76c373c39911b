import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import type { VideoTasks } from '../../../tasks/create-video-tasks.ts';
import type { MediaStorage } from '../../../tasks/media/media-storage.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';
import type { SignedLinks } from '../shared/content/signed-links.ts';
import type { VideoProtocols } from './upstream/find-task-upstream.ts';

/** What the routes of videos work with. */
export type VideoService = {
  readonly tasks: Pick<
    VideoTasks,
    'begin' | 'findKeyed' | 'accept' | 'refuse' | 'leaveUnclear' | 'find' | 'list' | 'delete' | 'openRequest' | 'watch'
  >;
  readonly store: Pick<TaskStore, 'mediaBytes' | 'findTaskOwner'>;
  readonly storage: Pick<MediaStorage, 'open'>;
  /** Opens files to those who have a link. */
  readonly links: SignedLinks;
  /** What was charged, line by line. */
  readonly ledger: Pick<LedgerStore, 'findEntry'>;
  readonly protocols: VideoProtocols;
  /** How many tasks there are, and how they stand. */
  readonly gauges: VideoTasks['gauges'];
  /** Aborts when the gateway begins to go. Who follows a video may wait for as long as it takes, and misses nothing by asking the next gateway: nothing waits for them. */
  readonly leaving: AbortController;
};
