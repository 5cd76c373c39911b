import type { UpstreamDialectId } from '../dialects/dialect-id.ts';
import { writeKey } from './key-header.ts';
import type { DialectAddress, ServerPreset, UpstreamVendor } from './upstream-vendor.ts';

/**
 * The vendor as a preset describes it: only the dialects that have an address there, with its header for the key. A
 * preset without addresses changes nothing.
 */
export function fitToPreset(vendor: UpstreamVendor, preset: ServerPreset | undefined): UpstreamVendor {
  const { addresses, listsModels = true } = preset ?? {};
  const { modelListPath: _, ...unlisted } = vendor;
  const listed = listsModels ? vendor : unlisted;
  if (addresses === undefined) return listed;
  const byDialect = new Map(addresses.map((address) => [address.dialect, address]));
  return {
    ...listed,
    dialects: addresses.map(({ dialect }) => dialect),
    optionalDialects: [],
    locate: (route, facts) => {
      const address = byDialect.get(route.dialect);
      if (address === undefined || (route.operation === 'count-tokens' && address.countsTokens !== true)) return undefined;
      return (address.locate ?? vendor.locate)(route, facts);
    },
    credentialHeaders: (apiKey, dialect) => {
      const header = byDialect.get(dialect)?.keyHeader;
      return header === undefined ? vendor.credentialHeaders(apiKey, dialect) : writeKey(header, apiKey);
    },
  };
}

/** The paths below which an upstream is addressed, without a slash at the end. */
export type BasePaths = {
  /** That of its services other than chats, and of dialects without one of their own. */
  readonly basePath: string;
  readonly basePaths?: Readonly<Partial<Record<UpstreamDialectId, string>>>;
};

/**
 * Finds the paths below which each dialect is served. The operator may configure another host or a path in front of the
 * service, with or without the ending that any of its dialects has: `https://proxy.example/kimi` and
 * `https://proxy.example/kimi/v1` are the same.
 * @param pathname path of the configured address, or of the preset's own
 */
export function findBasePaths(pathname: string, addresses: readonly DialectAddress[] | undefined): BasePaths {
  const configured = pathname.replace(/\/+$/, '');
  if (addresses === undefined) return { basePath: configured };
  const endings = [...addresses.map(({ path }) => path), '/v1'].filter((path) => path !== '' && configured.endsWith(path));
  const ending = endings.reduce((longest, path) => (path.length > longest.length ? path : longest), '');
  const root = configured.slice(0, configured.length - ending.length);
  const main = addresses.find(({ dialect }) => dialect === 'openai-chat') ?? addresses[0];
  return {
    basePath: root + (main?.path ?? ''),
    basePaths: Object.fromEntries(addresses.map(({ dialect, path }) => [dialect, root + path])),
  };
}
