import type { DialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { unknownModel } from '../../attempts/routing/rank-targets.ts';
import type { RoutingTable } from '../../attempts/routing/routing-table.ts';

/** Whether the caller may call a model. */
export type ModelTest = (model: string) => boolean;

/** The models that the caller may call, in the format of its SDK. */
export function listModels(table: RoutingTable, dialect: DialectId, query: URLSearchParams, mayCall: ModelTest): unknown {
  const { modelList } = chatDialects[dialect];
  const { onlyOf } = modelList;
  const served =
    onlyOf === undefined
      ? table.models
      : table.models.filter(
          (model) => model.ownedBy === onlyOf || table.targetsOf(model.id).some((target) => target.upstream.dialects.includes(dialect)),
        );
  const models = served.filter(({ id }) => mayCall(id));
  return modelList.encodeList(models, query);
}

/**
 * One model. Aliases and dated names that a call would accept are found too.
 * @throws GatewayError `model_not_found`, also if the caller may not call the model
 */
export function showModel(table: RoutingTable, dialect: DialectId, name: string, configuredAtMs: number, mayCall: ModelTest): unknown {
  const listed = table.models.find((model) => model.id === name);
  const [target] = table.targetsOf(name);
  if ((listed === undefined && target === undefined) || !mayCall(name)) throw unknownModel(name, table, mayCall);
  return chatDialects[dialect].modelList.encodeModel(
    listed ?? { id: name, displayName: name, createdAtMs: configuredAtMs, ownedBy: target?.upstream.vendor.id ?? 'weir' },
  );
}
