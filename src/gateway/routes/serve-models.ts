import type { DialectId } from '../../dialects/chat-dialect.ts';
import { modelLists } from '../../dialects/registry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { RoutingTable } from '../routing/routing-table.ts';

/** The model list in the shape that the caller's SDK reads. */
export function listModels(table: RoutingTable, dialect: DialectId, query: URLSearchParams): unknown {
  const models =
    dialect === 'gemini-generate-content'
      ? table.models.filter(
          (model) => model.ownedBy === 'gemini' || table.targetsOf(model.id).some((target) => target.upstream.dialects.includes(dialect)),
        )
      : table.models;
  return modelLists[dialect].encodeList(models, query);
}

/** One model. Aliases and dated names that a call would accept are found too. Throws `model_not_found`. */
export function showModel(table: RoutingTable, dialect: DialectId, name: string, configuredAtMs: number): unknown {
  const listed = table.models.find((model) => model.id === name);
  const [target] = table.targetsOf(name);
  if (listed === undefined && target === undefined) {
    throw new GatewayError('model_not_found', `model: ${name.slice(0, 256)} is not served here; GET /v1/models lists what is`, {
      param: 'model',
    });
  }
  return modelLists[dialect].encodeModel(
    listed ?? { id: name, displayName: name, createdAtMs: configuredAtMs, ownedBy: target?.upstream.vendor.id ?? 'weir' },
  );
}
