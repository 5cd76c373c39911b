import type { DescribedTool } from '../../../control/nodes/node-state.ts';
import type { Route } from '../../../gateway/attempts/routing/routing-table.ts';
import { findToolRunner } from '../../../gateway/endpoints/chat/tool-loop/choose-tool-strategy.ts';
import type { ToolModes } from '../../../gateway/settings/call-settings.ts';
import { type BuiltInToolKind, builtInToolKinds } from '../../../inference/inference-request.ts';
import type { Config } from '../../config/config-schema.ts';
import { findSearchProvider } from '../../config/find-search-provider.ts';

/** What decides who runs the tools of models. */
export type ToolOffers = {
  /** The tools that this gateway has what it needs for. */
  readonly offered: ReadonlySet<BuiltInToolKind>;
  readonly defaults: ToolModes;
};

/** The tools that a gateway can run with its configuration. @param simulated the address of the simulated search */
export function listOfferedTools(
  config: Config,
  variable: (name: string) => string | undefined,
  simulated: string | undefined,
): ReadonlySet<BuiltInToolKind> {
  const { codeExecution, urlContext, imageGeneration } = config.tools ?? {};
  const can: Readonly<Record<BuiltInToolKind, boolean>> = {
    'web-search': findSearchProvider(config, variable, simulated) !== undefined,
    'code-execution': codeExecution?.enabled !== false,
    'file-search': true,
    'url-context': urlContext?.enabled !== false,
    'image-generation': imageGeneration?.model !== undefined,
  };
  return new Set(builtInToolKinds.filter((kind) => can[kind]));
}

/** Each tool that clients of a model can use, and the side that runs it, by the functions of a real call. */
export function describeTools({ targets, toolModes = {} }: Route, { offered, defaults }: ToolOffers): readonly DescribedTool[] {
  return builtInToolKinds.flatMap((kind) => {
    // Only this interface has all tools whose runner depends on the interface: files and images.
    const asked = { dialect: 'openai-responses', targets, modes: toolModes, defaults, runs: builtInToolKinds } as const;
    const runBy = findToolRunner(kind, asked);
    return runBy === undefined || (runBy === 'gateway' && !offered.has(kind)) ? [] : [{ tool: kind, runBy }];
  });
}
