import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';

/**
 * A request to the video interface of an upstream, with the operator's credential and no header of the client.
 * @param path below the base URL
 */
export function createVideoRequest(
  { basePath, vendor, apiKey }: Pick<Upstream, 'basePath' | 'vendor' | 'apiKey'>,
  {
    method,
    path,
    headers = {},
    body,
  }: {
    readonly method: UpstreamRequest['method'];
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Buffer;
  },
): UpstreamRequest {
  return { method, path: `${basePath}${path}`, headers: { ...plainHeaders, ...headers, ...credentialOf({ vendor, apiKey }) }, body };
}

// Replies are not decompressed.
const plainHeaders = { accept: 'application/json', 'accept-encoding': 'identity' };

/** The header with the operator's credential. All video interfaces use the form of OpenAI's. */
export function credentialOf({ vendor, apiKey }: Pick<Upstream, 'vendor' | 'apiKey'>): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : vendor.credentialHeaders(apiKey, 'openai-chat');
}
