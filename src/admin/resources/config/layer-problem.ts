import { LayerError, type LayerProblem } from '../../../control/layers/config-layer.ts';
import { readPositionedYaml, YamlError } from '../../../platform/yaml/yaml-position.ts';
import { AdminProblem, type FieldProblem } from '../../problem.ts';
import { versionMismatch } from '../../server/if-match.ts';

/** Problems of a layer that one answer lists. */
const problemsMax = 100;

/** The value of a text in YAML. @throws AdminProblem `invalid_request` with the position of the first mistake */
export function readLayerText(yaml: string): unknown {
  try {
    return readPositionedYaml(yaml).value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const detail = `${error.line}:${error.column} ${error.message}`;
    throw new AdminProblem('invalid_request', 'The text is not YAML.', {
      errors: [{ pointer: '/yaml', code: 'yaml', detail }],
      members: { problems: [{ line: error.line, column: error.column, path: '', message: error.message }] },
    });
  }
}

type Refused = {
  /** The text of the layer, if it was given as one. */
  readonly text: string | undefined;
  readonly present: () => Promise<unknown>;
};

/** A refusal of a layer as a problem with the place of each mistake; other errors as they are. */
export async function refuseLayer(error: unknown, { text, present }: Refused): Promise<never> {
  if (!(error instanceof LayerError)) throw error;
  const detail = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  switch (error.code) {
    case 'problems':
      throw describeProblems(error, text, detail);
    case 'meanwhile':
      throw versionMismatch(undefined, await present());
    case 'unknown':
      throw new AdminProblem('invalid_request', detail, { errors: [{ pointer: '/from', code: 'unknown', detail }], cause: error });
    case 'drops': {
      const hint = `${detail} If this is meant, name them in drop_models.`;
      throw new AdminProblem('conflict', hint, { members: { models: error.models }, cause: error });
    }
    case 'foreign':
    case 'off':
    case 'role':
      throw new AdminProblem('conflict', detail, { cause: error });
  }
}

function describeProblems(error: LayerError, text: string | undefined, detail: string): AdminProblem {
  const shown = error.problems.slice(0, problemsMax);
  const positionOf = text === undefined ? undefined : readPositionedYaml(text).positionOf;
  const placed = shown.map(({ path, message }) => {
    const position = positionOf?.(path);
    return { ...(position ?? { line: null, column: null }), path: path.join('.'), message };
  });
  const errors = shown.map((problem, index): FieldProblem => {
    const { line, column } = placed[index] ?? {};
    const words = `${problem.path.join('.')}: ${problem.message}`;
    if (positionOf !== undefined) return { pointer: '/yaml', code: 'config', detail: `${line}:${column} ${words}` };
    return { pointer: pointerOf(problem), code: 'config', detail: words };
  });
  return new AdminProblem('invalid_request', detail, { errors, members: { problems: placed }, cause: error });
}

const pointerOf = ({ path }: LayerProblem): string =>
  ['/layer', ...path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
