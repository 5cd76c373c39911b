import type { DescribedModel, NodeState } from '../../../control/nodes/node-state.ts';

/** The models of running gateways by their names. Of gateways that differ, the first one counts. */
export function listNamed(nodes: readonly NodeState[]): readonly DescribedModel[] {
  const models = new Map<string, DescribedModel>();
  for (const { description } of nodes) for (const model of description.models) models.getOrInsert(model.name, model);
  return [...models.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
