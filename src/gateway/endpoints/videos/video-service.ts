import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import type { VideoTasks } from '../../../tasks/create-video-tasks.ts';
import type { MediaStorage } from '../../../tasks/media/media-storage.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';
import type { SignedLinks } from '../shared/content/signed-links.ts';
import type { VideoProtocols } from './upstream/find-task-upstream.ts';

export type VideoService = {
  readonly tasks: Pick<
    VideoTasks,
    'begin' | 'findKeyed' | 'accept' | 'refuse' | 'leaveUnclear' | 'find' | 'list' | 'delete' | 'openRequest' | 'watch'
  >;
  readonly store: Pick<TaskStore, 'mediaBytes' | 'findTaskOwner'>;
  readonly storage: Pick<MediaStorage, 'open'>;
  /** Signs and checks links of files. */
  readonly links: SignedLinks;
  /** The charges, line by line. */
  readonly ledger: Pick<LedgerStore, 'findEntry'>;
  readonly protocols: VideoProtocols;
  /** Counts of tasks by state. */
  readonly gauges: VideoTasks['gauges'];
  /**
   * Aborts when the gateway starts to drain. Event streams end then, because clients can reconnect to another gateway.
   */
  readonly leaving: AbortController;
};
