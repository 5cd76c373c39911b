import type { Static } from 'typebox';

import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Logger } from '../../../platform/log.ts';
import { type CodeExecution, createCodeExecution } from '../../../tools/code-execution/create-code-execution.ts';
import type { toolsSchema } from '../../config/tools-schema.ts';

/**
 * Code execution, as configured. It starts nothing before its first use; `close` terminates every interpreter.
 * @param dataDirectory directory of the unnamed file with the memory of a started interpreter
 */
export function openCodeExecution(options: {
  readonly settings: Static<typeof toolsSchema>['codeExecution'];
  readonly dataDirectory: string;
  readonly logger: Logger;
}): CodeExecution {
  const { settings = {}, dataDirectory, logger } = options;
  if (settings.enabled === false) return switchedOff;
  return createCodeExecution({
    limits: {
      timeoutMs: settings.timeoutMs ?? 30_000,
      memoryMb: settings.memoryMb ?? 256,
      outputBytesMax: settings.outputBytesMax ?? 64_000,
    },
    poolSize: settings.poolSize ?? 1,
    concurrencyMax: settings.concurrencyMax ?? 4,
    folder: dataDirectory,
    logger,
  });
}

const switchedOff: CodeExecution = {
  make: (tool) => {
    const place = tool.path === undefined ? {} : { param: tool.path };
    throw new GatewayError('tool_unavailable', 'Code execution is disabled on this server.', place);
  },
  close: () => Promise.resolve(),
};
