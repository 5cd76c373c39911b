import type { ReactNode } from 'react';

import type { Input, OperationId, Reply } from '../api/client.ts';
import { curlOf } from '../api/equivalents.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Equivalent } from './equivalent.tsx';
import { Failure } from './failure.tsx';
import { LastChange } from './last-change.tsx';
import { useChange } from './use-change.ts';

type Props<Id extends OperationId> = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** The words of the button that does it. */
  readonly action: string;
  readonly danger?: boolean;
  /** The step that comes before the action, with a button of its own: what submitting the form does then. */
  readonly first?: (() => void) | undefined;
  readonly operation: Id;
  readonly input: Input<Id>;
  /** The same for the line to copy, if the input has a secret. */
  readonly shownInput?: Input<Id>;
  /** The command that does the same, if there is one. */
  readonly command?: string;
  /** Kinds of answers that are asked again after the change. */
  readonly forgets: readonly string[];
  /** The object in the audit log, which says who changed it meanwhile: `user:ann`. */
  readonly subject?: string;
  readonly disabledBecause?: string | undefined;
  readonly onDone?: (reply: Reply<Id>) => void;
  readonly size?: 'small' | 'large';
  /** What will happen, and the fields of the change. They get the server's sentence about each field. */
  readonly children: (errors: Readonly<Record<string, string>>) => ReactNode;
};

/**
 * A change, said before it is made. If somebody else has changed the object meanwhile, the dialog says who and what,
 * and the next press is about the present state.
 */
export function ChangeDialog<Id extends OperationId>(props: Props<Id>) {
  const { open, onClose, title, size = 'small' } = props;
  return (
    <Dialog open={open} onClose={onClose} title={title} size={size}>
      {open && <Form {...props} />}
    </Dialog>
  );
}

function Form<Id extends OperationId>(props: Props<Id>) {
  const {
    onClose,
    action,
    danger = false,
    first,
    operation,
    input,
    shownInput = input,
    command,
    forgets,
    subject,
    disabledBecause,
    onDone,
    children,
  } = props;
  const change = useChange(operation, forgets);
  const { problem } = change;
  const isStale = problem?.code === 'version_mismatch';
  const run = (): void => {
    if (disabledBecause !== undefined) return;
    void change.run(input).then((done) => {
      if (done === undefined) return;
      onClose();
      onDone?.(done.body);
    });
  };
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (first === undefined) run();
          else first();
        }}
      >
        {children(problem?.fieldErrors() ?? {})}
        <div>
          <Button
            kind={danger ? 'danger' : first === undefined ? 'main' : 'plain'}
            type={first === undefined ? 'submit' : 'button'}
            busy={change.busy}
            disabledBecause={disabledBecause}
            {...(first !== undefined && { onClick: run })}
          >
            {isStale ? `${action} all the same` : action}
          </Button>
        </div>
      </form>
      {problem !== undefined && !isStale && <Failure error={problem} />}
      {isStale && <LastChange subject={subject} />}
      <Equivalent command={command} curl={curlOf(location.origin, operation, shownInput)} />
    </>
  );
}
