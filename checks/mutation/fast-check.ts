import fc, { type IProperty, type Parameters, type IAsyncProperty } from 'fast-check';

/**
 * `fast-check` while mutations are run: a property that draws thousands of cases to find the one in a thousand draws a few here, the same for every change of the code,
 * and a failure is not searched for its smallest case.
 */
const casesMost = Number(process.env.WEIR_MUTATION_CASES ?? '50');

fc.configureGlobal({ seed: 20_261_122 });

function assertFew<T>(property: IAsyncProperty<T> | IProperty<T>, parameters: Parameters<T> = {}): Promise<void> | void {
  const numRuns = Math.min(casesMost, parameters.numRuns ?? 100);
  return fc.assert(property, { ...parameters, numRuns, endOnFailure: true });
}

// oxlint-disable-next-line import/no-default-export -- as fast-check is imported
export default { ...fc, assert: assertFew };
