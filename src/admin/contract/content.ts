import { Type } from 'typebox';

import { contentModes } from '../../accounts/content-mode.ts';
import { nullable } from './values.ts';

/** How much of the content of calls is recorded, as keys and teams say. */
export const contentModeSchema = (otherwise: string) =>
  nullable(
    Type.Enum([...contentModes], {
      description: `How much of prompts and replies is recorded, up to the ceiling of the configuration; null ${otherwise}.`,
    }),
  );
