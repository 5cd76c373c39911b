import { useState } from 'react';

import { SelectField } from '../ui/field.tsx';
import { ChangeDialog } from './change-dialog.tsx';

type Content = 'off' | 'masked' | 'full' | null;

const texts: Readonly<Record<NonNullable<Content>, string>> = {
  off: 'nothing',
  masked: 'prompts and replies, with what is secret masked',
  full: 'prompts and replies as they are',
};

/** How much of the content of calls is recorded, in words. @param otherwise if the object says nothing itself */
export function contentWords(content: Content, otherwise: string): string {
  return content === null ? otherwise : texts[content];
}

type Props = {
  readonly onClose: () => void;
  readonly whose: string;
  readonly content: Content;
  readonly otherwise: string;
  readonly operation: 'keys.update' | 'teams.update';
  readonly params: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  readonly subject: string;
  readonly forgets: readonly string[];
};

/** Chooses how much of prompts and replies is recorded, up to the ceiling of the configuration. */
export function ContentDialog({ onClose, whose, content, otherwise, operation, params, version, subject, forgets }: Props) {
  const [chosen, setChosen] = useState<NonNullable<Content> | ''>(content ?? '');
  const isSame = chosen === (content ?? '');
  const place = operation === 'keys.update' ? `--key ${whose}` : `--team ${whose}`;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Content of ${whose}`}
      action="Set it"
      operation={operation}
      input={{ params, version, body: { content: chosen === '' ? null : chosen } } as never}
      command={`weir content set ${place} ${chosen === '' ? 'default' : chosen}`}
      forgets={forgets}
      subject={subject}
      disabledBecause={isSame ? 'Nothing is changed yet.' : undefined}
    >
      {(errors) => (
        <>
          <p>Prompts and replies go to the sinks of the configuration, never into the books or logs, and never beyond its ceiling.</p>
          <SelectField
            label="Recorded is"
            value={chosen}
            error={errors['content']}
            options={[
              { value: '', text: otherwise },
              ...(['off', 'masked', 'full'] as const).map((value) => ({ value, text: texts[value] })),
            ]}
            onChange={setChosen}
          />
        </>
      )}
    </ChangeDialog>
  );
}
