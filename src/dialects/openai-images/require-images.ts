import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageReply } from '../../inference/image.ts';

const reasonCharactersMax = 300;

/**
 * Refuses a reply without images, with the vendor's reason.
 * @throws GatewayError upstream_refused_request if the upstream gives a reason, otherwise upstream_invalid_reply
 */
export function requireImages({ images, withheld }: Pick<ImageReply, 'images' | 'withheld'>): void {
  if (images.length > 0) return;
  const [reason] = withheld;
  if (reason === undefined)
    throw new GatewayError('upstream_invalid_reply', 'The model answered without an image.', { internal: 'image reply without images' });
  throw new GatewayError('upstream_refused_request', `The model generated no image: ${reason.slice(0, reasonCharactersMax)}`, {
    details: { openai_code: 'moderation_blocked' },
  });
}
