import { refuseChanges } from './0001-initial-schema.ts';
import type { Migration } from './migration.ts';

/** Layers of the configuration that are published for all gateways. */
export const configLayers: Migration = {
  version: 40,
  name: 'config-layers',
  shared: [
    `create table config_layers (
      number bigint not null primary key,
      published_at_ms bigint not null,
      actor text not null,
      note text,
      restored bigint,
      document text not null,
      secrets text not null,
      seal text not null
    )`,
  ],
  sqlite: [
    `create trigger config_layers_refuse_update before update on config_layers
    begin
      select raise(abort, 'layers are append-only: rows of config_layers are never changed');
    end`,
    `create trigger config_layers_refuse_delete before delete on config_layers
    begin
      select raise(abort, 'layers are append-only: rows of config_layers are never deleted');
    end`,
    // An insert that replaces a row deletes it without firing delete triggers: this keeps the row.
    `create trigger config_layers_keep_existing before insert on config_layers
    when exists (select 1 from config_layers where number = new.number)
    begin
      select raise(ignore);
    end`,
  ],
  postgres: [refuseChanges('config_layers')],
};
