import type { Clock } from '../../platform/clock.ts';
import { signCallback } from '../../tasks/callbacks/callback-secret.ts';
import type { NewNotice } from '../alert-store.ts';
import type { ChannelTarget } from './channel.ts';
import { factsOf, type NoticeContent, readContent, titleOf } from './notice-content.ts';
import { callbackBody, slackBody, teamsBody } from './webhook-bodies.ts';

/** The ways out of the process. Each ends within the time of the signal. */
export type NoticeTransports = {
  /** Posts a JSON text and resolves with the status. Rejects with a DeliveryError. */
  readonly post: (request: {
    readonly url: string;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly privateAddresses: boolean;
    readonly signal: AbortSignal;
  }) => Promise<number>;
  /** Sends a mail. Rejects with a DeliveryError. */
  readonly mail: (
    target: Extract<ChannelTarget, { type: 'email' }>,
    mail: { readonly id: string; readonly subject: string; readonly text: string; readonly signal: AbortSignal },
  ) => Promise<void>;
};

/** A delivery that failed. The message can be shown: it has neither an address nor the receiver's own text. */
export class DeliveryError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DeliveryError';
  }
}

const subjectCharactersMax = 200;

/** Sends a message once. Rejects with a DeliveryError, or with the reason of the signal. */
export async function sendNotice(
  target: ChannelTarget,
  notice: Pick<NewNotice, 'id' | 'content' | 'createdAtMs'>,
  { transports, clock, signal }: { readonly transports: NoticeTransports; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const content = readContent(notice.content);
  if (target.type === 'email') {
    const subject = `[Weir] ${titleOf(content)}`.slice(0, subjectCharactersMax);
    return await transports.mail(target, { id: notice.id, subject, text: mailText(content), signal });
  }
  const { url, privateAddresses } = target;
  const body = bodyOf(target, content, notice);
  const headers = target.type === 'callback' ? sign(target.secret, notice.id, body, clock.nowMs()) : {};
  const status = await transports.post({ url, body, headers, privateAddresses, signal });
  if (status < 200 || status > 299) throw new DeliveryError(`the receiver answered with status ${status}`);
}

function bodyOf(
  target: Exclude<ChannelTarget, { type: 'email' }>,
  content: NoticeContent,
  notice: Pick<NewNotice, 'id' | 'createdAtMs'>,
): string {
  switch (target.type) {
    case 'callback':
      return callbackBody(content, notice);
    case 'slack':
      return slackBody(content);
    case 'teams':
      return teamsBody(content);
  }
}

function sign(secret: string, id: string, payload: string, nowMs: number): Readonly<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signCallback([secret], { id, timestamp, payload }),
  };
}

function mailText(content: NoticeContent): string {
  const facts = factsOf(content).map(([name, value]) => `${name}: ${value}`);
  return `${titleOf(content)}\n\n${facts.join('\n')}\n`;
}
