import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';

/**
 * A request to the video interface of an upstream, with the operator's credential and nothing of the client.
 * @param path below the base address
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

// Replies are read as they are, so they must come uncompressed.
const plainHeaders = { accept: 'application/json', 'accept-encoding': 'identity' };

/** The header that carries the operator's credential, in the form of OpenAI's interface, which all video interfaces have. */
export function credentialOf({ vendor, apiKey }: Pick<Upstream, 'vendor' | 'apiKey'>): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : vendor.credentialHeaders(apiKey, 'openai-chat');
}
