import { refuseChanges } from './0001-initial-schema.ts';
import type { Migration } from './migration.ts';

/**
 * The text that many entries share, each with its own id: an entry with a shape stores only what differs. Entries
 * without one, such as all earlier ones, store their whole text.
 */
export const callShapes: Migration = {
  version: 19,
  name: 'call-shapes',
  shared: [
    `create table call_shapes (
      id bigint not null primary key,
      template text not null
    )`,
    'alter table calls add column shape bigint',
  ],
  sqlite: [
    `create trigger call_shapes_refuse_update before update on call_shapes
    begin
      select raise(abort, 'the ledger is append-only: rows of call_shapes are never changed');
    end`,
    `create trigger call_shapes_refuse_delete before delete on call_shapes
    begin
      select raise(abort, 'the ledger is append-only: rows of call_shapes are never deleted');
    end`,
  ],
  postgres: [refuseChanges('call_shapes')],
};
