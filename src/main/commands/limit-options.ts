import type { Command } from 'commander';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { WrittenLimits } from '../../accounts/parse-limits.ts';

/** Adds the options that set limits. In an update, `none` removes a limit. */
export function addLimitOptions(command: Command): Command {
  return command
    .option('--rpm <n>', 'calls in any minute')
    .option('--tpm <n>', 'input and output tokens in any minute')
    .option('--concurrency <n>', 'calls at a time')
    .option('--models <names>', 'models that may be called, separated by commas; prefix* matches all names with this prefix')
    .option('--upstreams <names>', 'upstreams that calls may go to, separated by commas, with * as for models')
    .option('--addresses <networks>', 'addresses or networks from which calls may come, separated by commas')
    .option('--media-days <n>', 'days for which files of its videos are kept')
    .option('--media-bytes <n>', 'total bytes of its video files, such as 20GiB; beyond them no further videos are made')
    .option('--spend-per-day <usd>', 'USD that may be spent in a day (UTC)')
    .option('--spend-per-month <usd>', 'USD that may be spent in a month of the calendar (UTC)')
    .option('--spend-total <usd>', 'USD that may be spent in total, earlier spending included')
    .option('--expires <when>', 'a day (2026-12-31), an instant, or a time from now (90d, 12h, 30m)');
}

/** The limits among a command's options. */
export function writtenLimits(options: WrittenLimits): WrittenLimits {
  const { rpm, tpm, concurrency, models, upstreams, addresses, mediaDays, mediaBytes, expires } = options;
  const { spendPerDay, spendPerMonth, spendTotal } = options;
  return {
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(models === undefined ? {} : { models }),
    ...(upstreams === undefined ? {} : { upstreams }),
    ...(addresses === undefined ? {} : { addresses }),
    ...(mediaDays === undefined ? {} : { mediaDays }),
    ...(mediaBytes === undefined ? {} : { mediaBytes }),
    ...(expires === undefined ? {} : { expires }),
    ...(spendPerDay === undefined ? {} : { spendPerDay }),
    ...(spendPerMonth === undefined ? {} : { spendPerMonth }),
    ...(spendTotal === undefined ? {} : { spendTotal }),
  };
}

/** Limits with the names of the options that set them; empty if there are no limits. */
export function showLimits(limits: AccessLimits = {}): string {
  const { requestsPerMinute, tokensPerMinute, concurrency, models, upstreams, addresses } = limits;
  const { mediaRetentionDays, mediaBytesMax, expiresAtMs, spendPerDay, spendPerMonth, spendTotal, prepaid } = limits;
  return [
    ...(requestsPerMinute === undefined ? [] : [`rpm ${requestsPerMinute}`]),
    ...(tokensPerMinute === undefined ? [] : [`tpm ${tokensPerMinute}`]),
    ...(concurrency === undefined ? [] : [`concurrency ${concurrency}`]),
    ...(models === undefined ? [] : [`models ${models.join(',')}`]),
    ...(upstreams === undefined ? [] : [`upstreams ${upstreams.join(',')}`]),
    ...(addresses === undefined ? [] : [`addresses ${addresses.join(',')}`]),
    ...(mediaRetentionDays === undefined ? [] : [`media-days ${mediaRetentionDays}`]),
    ...(mediaBytesMax === undefined ? [] : [`media-bytes ${mediaBytesMax}`]),
    ...(prepaid === undefined ? [] : ['prepaid']),
    ...(spendPerDay === undefined ? [] : [`spend-per-day ${spendPerDay}`]),
    ...(spendPerMonth === undefined ? [] : [`spend-per-month ${spendPerMonth}`]),
    ...(spendTotal === undefined ? [] : [`spend-total ${spendTotal}`]),
    ...(expiresAtMs === undefined ? [] : [`expires ${new Date(expiresAtMs).toISOString()}`]),
  ].join('; ');
}
