import Type from 'typebox';

import { tagLimits } from '../../accounts/call-tags.ts';

/** Settings of the tags of calls. */
export const tagsSchema = Type.Object(
  {
    fromMetadata: Type.Optional(
      Type.Record(
        Type.String({ pattern: `^[a-z][a-z0-9_-]{0,${tagLimits.nameCharacters - 1}}$` }),
        Type.String({ minLength: 1, maxLength: 64 }),
        {
          maxProperties: tagLimits.tags,
          additionalProperties: false,
          description:
            "The members of a request's metadata (of its labels in generate-content) that are tags of the call, by the name of the tag: project: project_id. Tags of the key and of the header x-weir-tags with the same name win.",
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'Tags of calls, by which reports are grouped.' },
);
