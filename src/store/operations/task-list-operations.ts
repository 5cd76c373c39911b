import type { TaskLists } from '../../tasks/task-lists.ts';
import { toStorableText } from '../storable-text.ts';
import { decodeDelivery, deliveryColumns } from './callback-operations.ts';
import type { Database } from './database.ts';
import { scopedPage, when } from './scoped-list.ts';
import { fromTasks, taskFields } from './video-submission-operations.ts';
import { decodeTask, rankOf } from './video-task-row.ts';

/** The SQL of lists of videos and callbacks over several users. */
export function createTaskListOperations(database: Database): TaskLists {
  return {
    queryTasks: async (query) => {
      const { keyId, upstream, phases, hasAlert } = query;
      const ranks = phases?.map(rankOf) ?? [];
      const page = scopedPage(query, 'id', [
        when('key_id = ?', keyId === undefined ? undefined : toStorableText(keyId)),
        // It is a member of a JSON text, whose inner quotation marks are escaped. Both engines compare this exactly.
        when("replace(facts, cast(? as text), '') <> facts", upstream === undefined ? undefined : `"upstream":${JSON.stringify(upstream)}`),
        ranks.length === 0 ? undefined : { sql: `phase in (${ranks.map(() => '?').join(', ')})`, parameters: ranks },
        hasAlert === undefined ? undefined : { sql: `alert_since_ms is ${hasAlert ? 'not ' : ''}null`, parameters: [] },
      ]);
      if (page === undefined) return [];
      return (await database.all(`select ${taskFields} from ${fromTasks} ${page.where}`, ...page.parameters)).map(decodeTask);
    },
    queryDeliveries: async (query) => {
      const { id, subject, status } = query;
      const page = scopedPage(query, 'id', [
        when('id = ?', id === undefined ? undefined : toStorableText(id)),
        when('subject = ?', subject === undefined ? undefined : toStorableText(subject)),
        when('status = ?', status),
      ]);
      if (page === undefined) return [];
      return (await database.all(`select ${deliveryColumns} from callback_deliveries ${page.where}`, ...page.parameters)).map(
        decodeDelivery,
      );
    },
  };
}
