import { ImportError } from './import-plan.ts';
import type { ConfigPlan } from './plan-config.ts';
import { fieldsOf, isFields, textOf, textsOf } from './read-fields.ts';
import { planService } from './services.ts';

/**
 * Reads parameters or a preset of OpenRouter: `model`, the list `models` of fallbacks, and `provider`. They become one
 * model whose targets are models at OpenRouter.
 * @param name the name of that model
 * @throws ImportError if the text names no model
 */
export function readOpenRouter(text: string, name: string, plan: ConfigPlan): void {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new ImportError(`the file is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const config = isFields(file) && isFields(file['config']) ? file['config'] : fieldsOf(file);
  const models = [...new Set([textOf(config['model']) ?? [], textsOf(config['models'])].flat())];
  if (models.length === 0) throw new ImportError('the file has neither model nor models');
  const planned = planService('openrouter', undefined);
  if (typeof planned === 'string') throw new ImportError(planned);
  const upstream = plan.addUpstream('openrouter', { ...planned, apiKey: '${OPENROUTER_API_KEY}' });
  models.forEach((model, index) => {
    plan.addTarget(name, { upstream, model, priority: index + 1 });
  });
  const unread = Object.keys(config).filter((member) => !['model', 'models', 'messages', 'prompt'].includes(member));
  if (unread.length > 0) plan.leftOut(unread.join(', '), 'clients send these with a call; Weir passes them on to OpenRouter');
}
