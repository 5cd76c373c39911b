import { createFieldNotes } from '../../../inference/translation-notes.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import type { ImageOrder } from '../shared/image-maker.ts';
import { type QuoteTarget, type QuotedCall, type QuotedTarget, fitTargets, rankRouted } from '../shared/quoted-call.ts';
import { boundImages } from './bound-images.ts';
import { imageFacts } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { imagesClient } from './images-client.ts';
import { type ImageRoute, readImages } from './read-images.ts';
import { writeForTarget } from './write-for-target.ts';

/** Quotes an image request; an edit in JSON. @throws GatewayError if the call would be refused */
export function quoteImages(query: QuoteTarget<ImageServices>, route: ImageRoute): QuotedCall {
  const request = readImages(query.body, route, query.settings.validation);
  return quoteOrder(query, { request, notes: [], client: imagesClient(request) }, query.gateway.pictures !== undefined);
}

/**
 * Quotes an image request of any interface.
 * @param keepsFiles whether the gateway can store linked images
 * @throws GatewayError if the call would be refused
 */
export function quoteOrder(query: QuoteTarget<Pick<AttemptServices, 'clock'>>, order: ImageOrder, keepsFiles: boolean): QuotedCall {
  const { request, notes: clientNotes, client } = order;
  const ranked = rankRouted(query, imageFacts(request), { kind: 'image' });
  const fit = (target: Target): QuotedTarget => {
    const notes = createFieldNotes(asksForStrict(query.caller, query.headers));
    const call = writeForTarget(request, target, notes, keepsFiles);
    const sent = 'json' in call ? { sent: Buffer.from(JSON.stringify(call.json)) } : {};
    return { target, usage: boundImages(request, target), notes: [...clientNotes, ...notes.list()], ...sent };
  };
  const targets = fitTargets(ranked, fit, query.explained?.onLeftOut);
  return { dialect: client.label, requestedModel: request.requestedModel, targets, roundsMax: 1 };
}
