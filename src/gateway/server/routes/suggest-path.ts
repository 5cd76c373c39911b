import { nearestName } from '../../../platform/nearest-name.ts';
import { routes } from '../../endpoints/registry.ts';
import { isPlain } from '../../endpoints/router.ts';

/** Longer paths are no slip of somebody who configures a client. */
const pathCharactersMax = 300;
const segmentsMax = 12;

/** Where interfaces lie: what clients leave out, write twice, or replace by the base address of another service. */
const prefixes = ['/v1/', '/v1beta/', '/'];

const plainPaths = routes.map(({ path }) => path).filter((path) => path !== '/' && isPlain(path));

/**
 * The path that was probably meant by one that is not there: `/v1/v1/messages`, `/messages`, `/v1beta/openai/chat/completions`, `/v1/mesages`.
 * @param isThere whether a path has any route
 */
export function suggestPath(path: string, isThere: (path: string) => boolean): string | undefined {
  if (path.length > pathCharactersMax) return undefined;
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.length > segmentsMax) return undefined;
  for (let from = 0; from < segments.length; from += 1) {
    const rest = segments.slice(from).join('/');
    // A model's own method is the younger interface's; plain `models/…` is both.
    const candidates = /:(?:generateContent|streamGenerateContent|countTokens)$/i.test(rest) ? ['/v1beta/', '/'] : prefixes;
    const found = candidates.map((prefix) => `${prefix}${rest}`).find((candidate) => candidate !== path && isThere(candidate));
    if (found !== undefined) return found;
  }
  return nearestName(path, plainPaths);
}
