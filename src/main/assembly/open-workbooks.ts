import type { AdminServices } from '../../admin/resources/registry.ts';
import type { Logger } from '../../platform/log.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Environment } from '../environment.ts';
import type { AnswerThreads } from '../programs/answer-threads/open-answer-threads.ts';
import { describeAnswerDatabase } from './open-data-directory.ts';

type Parts = { readonly environment: Environment; readonly logger: Logger; readonly opened: AsyncDisposableStack };

/**
 * The monitor's workbooks for the console, made in threads of their own: a long one delays neither calls nor other
 * answers. Threads and code are loaded with the first one, so that a start costs nothing for it. Closed by `opened`.
 */
export function openWorkbooks({ environment, logger, opened }: Parts): AdminServices['workbooks'] {
  let threads: Promise<AnswerThreads> | undefined;
  const start = async (): Promise<AnswerThreads> => {
    const [{ openAnswerThreads }, { monitorLimitsDefault }] = await Promise.all([
      import('../programs/answer-threads/open-answer-threads.ts'),
      import('../../monitor/monitor.ts'),
    ]);
    const { config } = loadConfig(environment.configPath, environment);
    const { detailCallsMax } = monitorLimitsDefault;
    return openAnswerThreads(
      { database: describeAnswerDatabase(environment), timeZone: config.timeZone ?? 'UTC', totalsRow: true, detailCallsMax },
      logger,
    );
  };
  opened.defer(async () => {
    await (await threads)?.close();
  });
  return {
    open: async (query, signal) => {
      threads ??= start();
      return await (await threads).open(query, signal);
    },
  };
}
