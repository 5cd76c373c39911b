import type { FormField } from './receive-uploads.ts';

/** The fields of a form with the model that the path names, as Azure's paths do, whatever the form says. */
export function namePathModel(fields: readonly FormField[], model: string | undefined): readonly FormField[] {
  if (model === undefined) return fields;
  const named: FormField = { name: 'model', value: model };
  return fields.some(({ name }) => name === 'model') ? fields.map((field) => (field.name === 'model' ? named : field)) : [...fields, named];
}
