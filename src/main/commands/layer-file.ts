import { readFileSync } from 'node:fs';

import { AdminProblem } from '../../admin/problem.ts';
import { type PositionedYaml, readPositionedYaml, YamlError } from '../../platform/yaml/yaml-position.ts';
import { type Environment, StartError } from '../environment.ts';

/** A file with a layer, and the layer with the values of this environment in the place of references. */
export type LayerFile = { readonly file: string; readonly yaml: PositionedYaml; readonly layer: unknown };

/** @throws StartError with the position of a mistake, or for a variable that is not set */
export function readLayerFile(file: string, variable: Environment['variable']): LayerFile {
  const yaml = readYaml(file);
  return { file, yaml, layer: fillReferences(yaml.value, variable) };
}

/** @throws StartError with the position of a mistake */
function readYaml(file: string): PositionedYaml {
  try {
    return readPositionedYaml(readFileSync(file, 'utf8'));
  } catch (cause) {
    if (cause instanceof YamlError) throw new StartError(`${file}:${cause.line}:${cause.column} ${cause.message}`, { cause });
    throw new StartError(`${file} cannot be read (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
}

/** Replaces `${NAME}` and `${NAME:-fallback}`. @throws StartError for a variable that is not set */
function fillReferences(value: unknown, variable: Environment['variable']): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_whole, name: string, fallback: string | undefined) => {
      const found = variable(name) ?? fallback;
      if (found === undefined) throw new StartError(`the environment variable ${name} is not set`);
      return found;
    });
  if (Array.isArray(value)) return value.map((member: unknown) => fillReferences(member, variable));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillReferences(member, variable)]));
}

/** The refusal of a layer with the positions of its problems in the file. */
export function refuseLayerFile(error: unknown, read?: LayerFile): never {
  if (!(error instanceof AdminProblem)) throw error;
  const lines = error.errors.map(({ pointer = '', detail }) => {
    if (read === undefined || !pointer.startsWith('/layer')) return `  ${detail}`;
    const path = pointer.split('/').slice(2);
    const { line, column } = read.yaml.positionOf(path.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')));
    return `  ${read.file}:${line}:${column} ${detail}`;
  });
  const message = error.message.replace('name them in drop_models', 'name them with --drop-models');
  throw new StartError([message, ...lines].join('\n'), { cause: error });
}
