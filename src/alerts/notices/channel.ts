import type { NoticeFilter } from './notice-content.ts';

/** A mail server, and how the connection is protected. */
type MailServer = {
  readonly host: string;
  readonly port: number;
  /** `tls`: from the first byte; `starttls`: required before the credential is sent; `none`: never. */
  readonly security: 'tls' | 'starttls' | 'none';
  readonly user?: string;
  readonly password?: string;
};

/** Where messages are sent, and in which form. */
export type ChannelTarget =
  | { readonly type: 'callback'; readonly url: string; readonly secret: string; readonly privateAddresses: boolean }
  | { readonly type: 'slack' | 'teams'; readonly url: string; readonly privateAddresses: boolean }
  | { readonly type: 'email'; readonly server: MailServer; readonly from: string; readonly to: readonly string[] };

export type Channel = ChannelTarget & { readonly filter: NoticeFilter };

/** Channels by the names that the operator gave them. */
export type Channels = Readonly<Record<string, Channel>>;
