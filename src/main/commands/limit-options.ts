import type { Command } from 'commander';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { WrittenLimits } from '../../accounts/parse-limits.ts';

/** Adds the options that set limits. On a change, `none` takes a limit away. */
export function addLimitOptions(command: Command): Command {
  return command
    .option('--rpm <n>', 'calls in any minute')
    .option('--tpm <n>', 'input and output tokens in any minute')
    .option('--concurrency <n>', 'calls at a time')
    .option('--models <names>', 'models that may be called, separated by commas; prefix* stands for all that begin so')
    .option('--addresses <networks>', 'addresses or networks from which calls may come, separated by commas')
    .option('--media-days <n>', 'days for which files of its videos are kept')
    .option('--media-bytes <n>', 'bytes that files of its videos may have together, such as 20GiB; beyond them no further ones are made')
    .option('--expires <when>', 'a day (2026-12-31), an instant, or a time from now (90d, 12h, 30m)');
}

/** The limits among a command's options. */
export function writtenLimits({ rpm, tpm, concurrency, models, addresses, mediaDays, mediaBytes, expires }: WrittenLimits): WrittenLimits {
  return {
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(models === undefined ? {} : { models }),
    ...(addresses === undefined ? {} : { addresses }),
    ...(mediaDays === undefined ? {} : { mediaDays }),
    ...(mediaBytes === undefined ? {} : { mediaBytes }),
    ...(expires === undefined ? {} : { expires }),
  };
}

/** Limits in the words of the options that set them; empty where there are none. */
export function showLimits(limits: AccessLimits = {}): string {
  const { requestsPerMinute, tokensPerMinute, concurrency, models, addresses, mediaRetentionDays, mediaBytesMax, expiresAtMs } = limits;
  return [
    ...(requestsPerMinute === undefined ? [] : [`rpm ${requestsPerMinute}`]),
    ...(tokensPerMinute === undefined ? [] : [`tpm ${tokensPerMinute}`]),
    ...(concurrency === undefined ? [] : [`concurrency ${concurrency}`]),
    ...(models === undefined ? [] : [`models ${models.join(',')}`]),
    ...(addresses === undefined ? [] : [`addresses ${addresses.join(',')}`]),
    ...(mediaRetentionDays === undefined ? [] : [`media-days ${mediaRetentionDays}`]),
    ...(mediaBytesMax === undefined ? [] : [`media-bytes ${mediaBytesMax}`]),
    ...(expiresAtMs === undefined ? [] : [`expires ${new Date(expiresAtMs).toISOString()}`]),
  ].join('; ');
}
