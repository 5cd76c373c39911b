import { GatewayError } from '../../../inference/gateway-error.ts';
import { readRequestTarget } from '../../admission/request-target.ts';
import { describeChatRoute } from '../chat/read-call.ts';
import type { RouteMatch } from '../route-table.ts';
import type { CreationPath } from '../videos/create/read-creation.ts';
import type { VideoAction } from '../videos/video-routes.ts';
import { quoteChat } from './quote-chat.ts';
import { quoteEmbeddings } from './quote-embeddings.ts';
import { quoteSound } from './quote-sound.ts';
import { quoteVideo } from './quote-video.ts';
import type { Asked, QuotedCall } from './quoted-call.ts';

/** Finds what a method and a path mean. */
type FindRoute = (method: string, path: string) => RouteMatch;

/** What the paths by which videos are made say of a request. */
const videoPaths: Readonly<Partial<Record<VideoAction, CreationPath>>> = {
  create: { form: 'video-generations' },
  'create-by-content': { form: 'by-content' },
  'xai-generate': { form: 'xai-videos', action: 'generate' },
  'xai-edit': { form: 'xai-videos', action: 'edit' },
  'xai-extend': { form: 'xai-videos', action: 'extend' },
  remix: { form: 'openai-videos' },
};

/**
 * Finds how a request to a path is priced.
 * @throws GatewayError `invalid_value` for a path to which nothing is sent that costs anything
 */
export function findQuoted(findRoute: FindRoute, address: string): (asked: Asked) => QuotedCall | Promise<QuotedCall> {
  const target = readRequestTarget(address);
  const match = target === undefined ? undefined : findRoute('POST', target.path);
  if (target === undefined || match?.found !== true) throw notQuoted(address);
  const { route, rest, params } = match;
  if (route.type === 'chat' || route.type === 'generate-content') {
    const { operation, dialect, pathModel, pathFraming } = describeChatRoute(route, rest, target.query);
    if (operation === 'count-tokens') throw notQuoted(address);
    return (asked) => quoteChat(asked, { dialect, operation, pathModel, pathFraming });
  }
  if (route.type === 'embeddings') return quoteEmbeddings;
  if (route.type === 'audio') return (asked) => quoteSound(asked, route.operation);
  const path = route.type === 'videos' ? videoPaths[route.action] : undefined;
  if (route.type !== 'videos' || path === undefined) throw notQuoted(address);
  return (asked) => quoteVideo(asked, path, route.action === 'remix' ? (params['id'] ?? '') : undefined);
}

function notQuoted(address: string): GatewayError {
  const message = `path: ${JSON.stringify(address.slice(0, 200))} is no path to which a request is posted that costs anything, such as "/v1/messages"`;
  return new GatewayError('invalid_value', message, { param: 'path' });
}
