import type { PictureMaker } from '../shared/picture-maker.ts';
import { makeImages } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { quoteOrder } from './quote-images.ts';

/**
 * Creates the image service for other endpoints.
 * @param gateway called at the first request, when all services exist
 */
export function createPictureMaker(gateway: () => ImageServices): PictureMaker {
  return {
    make: (call, order) => makeImages(gateway(), call, order),
    quote: (query, order) => quoteOrder(query, order, gateway().pictures !== undefined),
  };
}
