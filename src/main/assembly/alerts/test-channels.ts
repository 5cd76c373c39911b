import { noticeId, type NoticeContent } from '../../../alerts/notices/notice-content.ts';
import type { Channel, Channels } from '../../../alerts/notices/channel.ts';
import { DeliveryError, sendNotice } from '../../../alerts/notices/send-notice.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Environment } from '../../environment.ts';
import { createAlertTransports } from './alert-transports.ts';

/** What a test message led to; the problem is null if it was delivered. */
export type ChannelTest = { readonly channel: string; readonly delivered: boolean; readonly problem: string | null };

/** The names of channels that cannot be tested, in words; nothing else was sent. */
export class UnknownChannelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnknownChannelError';
  }
}

const testTimeoutMs = 15_000;

/**
 * Sends a test message to the named channels, or to all. A failure does not stop the others.
 * @throws UnknownChannelError if there is no channel, or none of a given name
 */
export async function testAlertChannels(
  { proxies }: Pick<Environment, 'proxies'>,
  channels: Channels,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<readonly ChannelTest[]> {
  const known = Object.entries(channels);
  if (known.length === 0) throw new UnknownChannelError('the configuration has no channels; add one under alerts.channels');
  const unknown = names.find((name) => !Object.hasOwn(channels, name));
  if (unknown !== undefined)
    throw new UnknownChannelError(`there is no channel "${unknown}"; there are ${known.map(([name]) => name).join(', ')}`);
  const chosen = known.filter(([name]) => names.length === 0 || names.includes(name));
  const transports = createAlertTransports(proxies);
  return await Promise.all(
    chosen.map(async ([name, channel]) => {
      const problem = await testChannel(transports, { name, channel }, signal);
      return { channel: name, delivered: problem === undefined, problem: problem ?? null };
    }),
  );
}

/** Resolves with the problem, or with undefined if the message was delivered. */
async function testChannel(
  transports: ReturnType<typeof createAlertTransports>,
  { name, channel }: { readonly name: string; readonly channel: Channel },
  ending: AbortSignal | undefined,
): Promise<string | undefined> {
  const nowMs = systemClock.nowMs();
  const content: NoticeContent = {
    event: 'test',
    rule: 'test',
    subject: `channel:${name}`,
    period: '',
    severity: 'info',
    summary: 'Test of an alert channel of Weir.',
    action: 'Nothing: this channel works.',
    sinceMs: nowMs,
  };
  const notice = { id: noticeId(['test', name, String(nowMs)]), content: JSON.stringify(content), createdAtMs: nowMs };
  const late = AbortSignal.timeout(testTimeoutMs);
  const signal = ending === undefined ? late : AbortSignal.any([late, ending]);
  try {
    await sendNotice(channel, notice, { transports, clock: systemClock, signal });
    return undefined;
  } catch (error) {
    if (late.aborted) return `no answer within ${testTimeoutMs / 1000} s`;
    if (error instanceof DeliveryError) return error.message;
    throw error;
  }
}
