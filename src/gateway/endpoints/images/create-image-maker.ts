import type { ImageMaker } from '../shared/image-maker.ts';
import { makeImages } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { quoteOrder } from './quote-images.ts';

/**
 * Creates the image service for other endpoints.
 * @param gateway called at the first request, when all services exist
 */
export function createImageMaker(gateway: () => ImageServices): ImageMaker {
  return {
    make: (call, order) => makeImages(gateway(), call, order),
    quote: (query, order) => quoteOrder(query, order, gateway().pictures !== undefined),
  };
}
