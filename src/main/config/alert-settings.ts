import type { AlertRule } from '../../alerts/alert.ts';
import { type AlertThresholds, defaultThresholds } from '../../alerts/conditions/condition.ts';
import type { Channel, Channels } from '../../alerts/notices/channel.ts';
import { limitNanoUsd } from '../../billing/credits/pots.ts';
import { isPrivateHost } from '../../platform/http/public-address.ts';
import { defaultAlerts } from './alerts-schema.ts';
import type { Config } from './config-schema.ts';

type AlertsConfig = NonNullable<Config['alerts']>;
type ChannelConfig = NonNullable<AlertsConfig['channels']>[string];
type Problem = { readonly path: readonly (string | number)[]; readonly message: string };

export type AlertSettings = {
  readonly checkMs: number;
  readonly thresholds: AlertThresholds;
  readonly diskFreePercent: number;
  readonly isOff: (rule: AlertRule) => boolean;
  readonly channels: Channels;
};

/** The settings of alerts. The configuration has passed `findAlertProblems`. */
export function buildAlertSettings({ alerts = {} }: Pick<Config, 'alerts'>): AlertSettings {
  const { checkSeconds, off = [], rules = {}, channels = {} } = alerts;
  const { times = defaultThresholds.spendRate.times, leastUsd } = rules.spendRate ?? {};
  return {
    checkMs: (checkSeconds ?? defaultAlerts.checkSeconds) * 1000,
    diskFreePercent: rules.disk?.freePercent ?? defaultAlerts.diskFreePercent,
    thresholds: {
      budgetPercents: ascending(rules.budget?.percents ?? defaultThresholds.budgetPercents),
      balanceDays: ascending(rules.balance?.days ?? defaultThresholds.balanceDays).toReversed(),
      expiryDays: ascending(rules.keyExpiring?.days ?? defaultThresholds.expiryDays).toReversed(),
      spendRate: {
        times,
        leastNanoUsd: leastUsd === undefined ? defaultThresholds.spendRate.leastNanoUsd : limitNanoUsd(leastUsd),
      },
    },
    isOff: (rule) => off.includes(rule),
    channels: Object.fromEntries(Object.entries(channels).map(([name, channel]) => [name, buildChannel(channel)])),
  };
}

const ascending = (values: readonly number[]): readonly number[] => [...new Set(values)].toSorted((a, b) => a - b);

function buildChannel(channel: ChannelConfig): Channel {
  const { type, url = '', secret = '', privateAddresses = false, smtp, from = '', to = [], rules, severity = 'info' } = channel;
  const filter = { severity, ...(rules === undefined ? {} : { rules }) };
  switch (type) {
    case 'callback':
      return { type, url, secret, privateAddresses, filter };
    case 'slack':
    case 'teams':
      return { type, url, privateAddresses, filter };
    case 'email':
      return { type, server: { port: defaultAlerts.smtpPort, security: 'starttls', host: '', ...smtp }, from, to, filter };
  }
}

const needed = { callback: ['url', 'secret'], slack: ['url'], teams: ['url'], email: ['smtp', 'from', 'to'] } as const;
const ofWebhooks = ['url', 'secret', 'privateAddresses'] as const;
const ofMail = ['smtp', 'from', 'to'] as const;
/** One address, optionally with a name before it. Line breaks would add headers to the mail. */
const mailAddress = /^(?:[^<>\r\n]{0,200}<)?[^\s<>@,;]{1,64}@[^\s<>@,;]{1,253}>?$/;

/** Problems of channels beyond the schema, each at its field. No message repeats an address or a secret. */
export function findAlertProblems({ alerts }: Pick<Config, 'alerts'>): readonly Problem[] {
  return Object.entries(alerts?.channels ?? {}).flatMap(([name, channel]) =>
    findChannelProblems(channel).map(({ path, message }) => ({ path: ['alerts', 'channels', name, ...path], message })),
  );
}

function findChannelProblems(channel: ChannelConfig): readonly Problem[] {
  const { type } = channel;
  const required: readonly (keyof ChannelConfig)[] = needed[type];
  const foreign = type === 'email' ? ofWebhooks : type === 'callback' ? ofMail : (['secret', ...ofMail] as const);
  const missing = required.filter((field) => channel[field] === undefined);
  return [
    ...missing.map((field) => ({ path: [], message: `${field} is required for a channel of type ${type}` })),
    ...foreign
      .filter((field) => channel[field] !== undefined)
      .map((field) => ({ path: [field], message: `does not belong to a channel of type ${type}` })),
    ...(type === 'email' ? findMailProblems(channel) : findWebhookProblems(channel)),
  ];
}

function findWebhookProblems({ url, secret, privateAddresses = false, type }: ChannelConfig): readonly Problem[] {
  const found: Problem[] = [];
  const parsed = url === undefined ? undefined : URL.parse(url);
  const at = (message: string): void => void found.push({ path: ['url'], message });
  if (parsed === null) at('must be a valid address, such as https://hooks.example.com/weir');
  else if (parsed !== undefined) {
    const isHttp = parsed.protocol === 'http:' && privateAddresses;
    if (parsed.protocol !== 'https:' && !isHttp) at('must begin with https://, or with http:// if privateAddresses is true');
    if (parsed.username !== '' || parsed.password !== '') at('must not contain a user name or password');
    if (!privateAddresses && isPrivateHost(parsed.hostname)) at('is in a private network; set privateAddresses: true to allow this');
  }
  if (type === 'callback' && secret !== undefined && !isSecret(secret))
    found.push({ path: ['secret'], message: 'must be whsec_ and 24 to 64 bytes in base64; weir alerts secret makes one' });
  return found;
}

/** The form that Standard Webhooks 1.0.0 defines. */
function isSecret(secret: string): boolean {
  const text = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/.exec(secret)?.[1];
  if (text === undefined) return false;
  const { length } = Buffer.from(text, 'base64');
  return length >= 24 && length <= 64;
}

function findMailProblems({ from, to = [], smtp }: ChannelConfig): readonly Problem[] {
  const wrong = 'must be a mail address, such as weir@example.com';
  return [
    ...(from === undefined || mailAddress.test(from) ? [] : [{ path: ['from'], message: wrong }]),
    ...to.flatMap((address, index) => (mailAddress.test(address) ? [] : [{ path: ['to', index], message: wrong }])),
    ...(smtp !== undefined && (smtp.user === undefined) !== (smtp.password === undefined)
      ? [{ path: ['smtp', smtp.user === undefined ? 'user' : 'password'], message: 'is required: user and password go together' }]
      : []),
  ];
}
