import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import type { ModelKind } from '../../inference/interfaces.ts';
import { modelKindsOf } from '../../upstreams/model-kind-rules.ts';
import type { UsableConfiguration } from './check-configuration.ts';
import { type Finding, tidyWords } from './finding.ts';

/**
 * Whether a model may write text. Models of unknown kinds may.
 * @param configured the kind in the configuration
 */
export function mayTalk({ vendor }: Pick<Upstream, 'vendor'>, model: string, configured?: ModelKind): boolean {
  const kinds = configured === undefined ? modelKindsOf(vendor, model) : [configured];
  return kinds === undefined || kinds.includes('chat');
}

/**
 * Checks without any cost whether an upstream lists its configured image models. It makes no image.
 * @param listed the models that the upstream lists; empty if it lists none
 */
export function listPictureModels(
  upstream: Upstream,
  { config }: Pick<UsableConfiguration, 'config'>,
  listed: readonly string[],
): readonly Finding[] {
  const made = Object.entries(config.models ?? {}).flatMap(([name, { targets, kind }]) =>
    targets
      .filter((target) => target.upstream === upstream.id)
      .map(({ model = name }) => model)
      .filter(
        (model) => !model.endsWith('*') && (kind === undefined ? modelKindsOf(upstream.vendor, model) : [kind])?.includes('image') === true,
      ),
  );
  return [...new Set(made)].map((model): Finding => {
    const subject = 'images';
    const named = tidyWords(model);
    if (listed.length === 0 || listed.includes(model))
      return { verdict: 'good', subject, says: `${named}${listed.length === 0 ? '' : ' is listed'}; not tried, because images cost` };
    const advice = 'compare the name with the list of the vendor; a model that is not listed may still work';
    return { verdict: 'warning', subject, says: `${named} makes images, but the upstream does not list it`, advice };
  });
}
