import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import { createFileSearch } from '../../../tools/file-search/create-file-search.ts';
import type { FileService } from '../../../tools/file-search/file-service.ts';
import type { ToolFactories } from '../../../tools/gateway-tool.ts';
import { createImageGeneration } from '../../../tools/image-generation/create-image-generation.ts';
import type { MakeImage } from '../../../tools/image-generation/make-image.ts';
import type { Config } from '../../config/config-schema.ts';
import type { Environment } from '../../environment.ts';
import { openCodeExecution } from './open-code-execution.ts';
import { openWebTools, type SimulatedSearch } from './open-web-search.ts';

export type OpenToolsOptions = {
  readonly environment: Environment;
  readonly config: () => Config;
  /** The search service that is used if none is configured. */
  readonly simulated: SimulatedSearch | undefined;
  readonly files: FileService;
  /** Makes images with a model. */
  readonly makeImage: (model: string) => MakeImage;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The tools of one configuration, and a function that closes them. */
type OpenedTools = { readonly factories: Omit<ToolFactories, 'file-search'>; readonly close: () => Promise<void> };

function open({ environment, simulated, makeImage, logger }: OpenToolsOptions, config: Config): OpenedTools {
  const web = openWebTools({ config, variable: environment.variable, simulated, logger });
  const code = openCodeExecution({ settings: config.tools?.codeExecution, dataDirectory: environment.dataDirectory, logger });
  const { model } = config.tools?.imageGeneration ?? {};
  return {
    factories: {
      'web-search': web['web-search'],
      'url-context': web['url-context'],
      'code-execution': code.make,
      'image-generation': createImageGeneration({ make: model === undefined ? undefined : makeImage(model), logger }),
    },
    close: async () => {
      await Promise.all([web.close(), code.close()]);
    },
  };
}

/** How long running calls keep their tools after a change of the configuration. */
const retiredMs = 600_000;

/**
 * The built-in tools of the configuration in force. Nothing runs before its first use. Running calls keep their tools
 * when the configuration changes. Closed by `opened`.
 */
export function openTools(options: OpenToolsOptions, opened: AsyncDisposableStack): ToolFactories {
  const { files, clock, logger } = options;
  const retired = new Map<OpenedTools, NodeJS.Timeout>();
  let config = options.config();
  let current = open(options, config);
  const now = (): OpenedTools['factories'] => {
    const latest = options.config();
    if (latest === config) return current.factories;
    const isSame = JSON.stringify(latest.tools) === JSON.stringify(config.tools);
    config = latest;
    if (isSame) return current.factories;
    const old = current;
    current = open(options, config);
    const end = (): void => {
      retired.delete(old);
      old.close().catch((error: unknown) => logger.warn({ err: error }, 'closing replaced tools failed'));
    };
    retired.set(old, setTimeout(end, retiredMs).unref());
    return current.factories;
  };
  opened.defer(async () => {
    for (const timer of retired.values()) clearTimeout(timer);
    await Promise.all([current, ...retired.keys()].map((tools) => tools.close()));
  });
  return {
    'web-search': (tool, owner) => now()['web-search'](tool, owner),
    'url-context': (tool, owner) => now()['url-context'](tool, owner),
    'code-execution': (tool, owner) => now()['code-execution'](tool, owner),
    'image-generation': (tool, owner) => now()['image-generation'](tool, owner),
    'file-search': createFileSearch({ store: files.store, search: files.search, clock, logger }),
  };
}
