import { recomputeAmount } from '../../billing/rating/recompute-amount.ts';
import { defaultTools, type ToolModes, type ToolSettings } from '../../gateway/settings/call-settings.ts';
import type { Config } from './config-schema.ts';

/** The modes of tools as the configuration spells them. */
type ConfiguredModes = NonNullable<Config['tools']>['modes'];

export function buildToolModes(modes: ConfiguredModes): ToolModes {
  const { webSearch, codeExecution, fileSearch, urlContext, imageGeneration } = modes ?? {};
  return {
    ...(webSearch === undefined ? {} : { 'web-search': webSearch }),
    ...(codeExecution === undefined ? {} : { 'code-execution': codeExecution }),
    ...(fileSearch === undefined ? {} : { 'file-search': fileSearch }),
    ...(urlContext === undefined ? {} : { 'url-context': urlContext }),
    ...(imageGeneration === undefined ? {} : { 'image-generation': imageGeneration }),
  };
}

/** The bounds of tools, and who runs them where a model says nothing else. */
export function buildTools({ tools }: Config): ToolSettings {
  const {
    roundsMax = defaultTools.roundsMax,
    runsMax = defaultTools.runsMax,
    runMsMax = defaultTools.runMsMax,
    costMaxUsd,
    modes,
  } = tools ?? {};
  const costMax = costMaxUsd === undefined ? undefined : recomputeAmount([{ meter: 'bound', quantity: 1, unitPrice: costMaxUsd, per: 1 }]);
  return { roundsMax, runsMax, runMsMax, modes: buildToolModes(modes), ...(costMax === undefined ? {} : { costMaxNanoUsd: costMax }) };
}
