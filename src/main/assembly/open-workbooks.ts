import type { AdminServices } from '../../admin/resources/registry.ts';
import type { Logger } from '../../platform/log.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Environment } from '../environment.ts';
import { describeAnswerDatabase } from './open-data-directory.ts';
import { openOnce } from '../../platform/open-once.ts';

type Parts = { readonly environment: Environment; readonly logger: Logger; readonly opened: AsyncDisposableStack };

/**
 * The monitor's workbooks for the console, made in threads of their own: a long one delays neither calls nor other
 * answers. Threads and code are loaded with the first one, so that a start costs nothing for it. Closed by `opened`.
 */
export function openWorkbooks({ environment, logger, opened }: Parts): AdminServices['workbooks'] {
  const threads = openOnce(async () => {
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
  });
  opened.defer(async () => {
    await (await threads.ifOpened())?.close();
  });
  return { open: async (query, signal) => await (await threads.get()).open(query, signal) };
}
