import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageReply } from '../../inference/image.ts';

const reasonCharactersMax = 300;

/**
 * Refuses a reply without images, with the vendor's reason.
 * @throws GatewayError upstream_content_filtered if a filter withheld them, upstream_refused_request for another
 * reason, upstream_invalid_reply for none
 */
export function requireImages({ images, withheld, isFiltered = false }: Pick<ImageReply, 'images' | 'withheld' | 'isFiltered'>): void {
  if (images.length > 0) return;
  const [reason] = withheld;
  if (reason === undefined)
    throw new GatewayError('upstream_invalid_reply', 'The model answered without an image.', { internal: 'image reply without images' });
  const code = isFiltered ? 'upstream_content_filtered' : 'upstream_refused_request';
  throw new GatewayError(code, `The model generated no image: ${reason.slice(0, reasonCharactersMax)}`, {
    details: { openai_code: 'moderation_blocked' },
  });
}
