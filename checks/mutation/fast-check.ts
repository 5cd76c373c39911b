import fc, { type IProperty, type Parameters, type IAsyncProperty } from 'fast-check';

/**
 * Replaces `fast-check` while mutations run. A property that draws thousands of cases draws a few here, the same ones
 * for every change of the code, and a failure is not reduced to its smallest case.
 */
const casesMost = Number(process.env.WEIR_MUTATION_CASES ?? '50');

fc.configureGlobal({ seed: 20_261_122 });

function assertFew<T>(property: IAsyncProperty<T> | IProperty<T>, parameters: Parameters<T> = {}): Promise<void> | void {
  const numRuns = Math.min(casesMost, parameters.numRuns ?? 100);
  return fc.assert(property, { ...parameters, numRuns, endOnFailure: true });
}

// oxlint-disable-next-line import/no-default-export -- as fast-check is imported
export default { ...fc, assert: assertFew };
