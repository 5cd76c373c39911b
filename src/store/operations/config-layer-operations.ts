import type { Change } from '../../audit/change-author.ts';
import type { ConfigLayer, ConfigLayerStore, ConfigLayerSummary, LayerDocument } from '../../control/layers/config-layer.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const summary = 'number, published_at_ms, actor, note, restored';
const columns = `${summary}, document, secrets, seal`;

/** The SQL of published layers of the configuration. It never changes an existing row. */
export function createConfigLayerOperations(database: Database): ConfigLayerStore {
  return {
    insertConfigLayer: (layer, change) => database.transact((transaction) => insert(transaction, layer, change)),
    newestConfigLayer: async () => {
      const row = await database.first(`select ${columns} from config_layers order by number desc limit 1`);
      return row === undefined ? undefined : decode(row);
    },
    findConfigLayer: async (number) => {
      const row = await database.first(`select ${columns} from config_layers where number = ?`, number);
      return row === undefined ? undefined : decode(row);
    },
    listConfigLayers: async ({ before = Number.MAX_SAFE_INTEGER, limit }) => {
      const sql = `select ${summary} from config_layers where number < ? order by number desc limit ?`;
      return (await database.all(sql, before, limit)).map(decodeSummary);
    },
  };
}

/** The signal makes gateways read the layer: it is in the same transaction. */
async function insert(transaction: Database, layer: ConfigLayer, change: Change): Promise<boolean> {
  const { number, publishedAtMs, actor, note, restored, document, secrets, seal } = layer;
  const sql = `insert into config_layers (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (number) do nothing`;
  const noted = note === undefined ? null : toStorableText(note);
  const values = [number, publishedAtMs, toStorableText(actor), noted, restored ?? null, document, secrets, seal] as const;
  if ((await transaction.run(sql, ...values)) === 0) return false;
  const signal = `insert into control_signals (name, value) values ('layers', ?) on conflict (name) do update set value = excluded.value`;
  await transaction.run(signal, number);
  const { upstreams = {}, models = {}, limits } = JSON.parse(document) as LayerDocument;
  const names = { upstreams: Object.keys(upstreams), models: Object.keys(models), limits: Object.keys(limits?.perKey ?? {}) };
  const after = JSON.stringify({ number, ...(restored !== undefined && { restored }), ...names });
  const noting = { ...change, ...(noted !== null && { note: noted }) };
  await appendAudit(transaction, noting, { action: 'config.publish', subject: `config_layer:${number}`, after });
  return true;
}

function decodeSummary(row: SqlRow): ConfigLayerSummary {
  const note = readOptionalText(row, 'note');
  const restored = readOptionalInteger(row, 'restored');
  return {
    number: readInteger(row, 'number'),
    publishedAtMs: readInteger(row, 'published_at_ms'),
    actor: readText(row, 'actor'),
    ...(note === undefined ? {} : { note }),
    ...(restored === undefined ? {} : { restored }),
  };
}

function decode(row: SqlRow): ConfigLayer {
  return { ...decodeSummary(row), document: readText(row, 'document'), secrets: readText(row, 'secrets'), seal: readText(row, 'seal') };
}
