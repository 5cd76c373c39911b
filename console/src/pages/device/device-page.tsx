import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { forgetDeviceCode, readDeviceCode } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useZone } from '../../components/use-page.ts';
import { showDuration } from '../../format/numbers.ts';
import { showTime } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import styles from './device-page.module.css';

/** A command line on another machine asks to be signed in: who asks, from where, for what, and the decision. */
export function DevicePage() {
  const [code, setCode] = useState(readDeviceCode);
  const [typed, setTyped] = useState('');
  return (
    <>
      <PageHead title="Sign in a command line" />
      {code === '' ? (
        <form
          className={styles['form']}
          onSubmit={(event) => {
            event.preventDefault();
            setCode(typed.trim());
          }}
        >
          <TextField
            label="Code that the command line shows"
            mono
            value={typed}
            placeholder="BCDFG-HJKLM"
            required
            autoFocus
            onChange={setTyped}
          />
          <p>
            <Button kind="main" type="submit" disabledBecause={typed.trim() === '' ? 'The code is missing.' : undefined}>
              Go on
            </Button>
          </p>
        </form>
      ) : (
        <Request code={code} onOther={() => setCode('')} />
      )}
    </>
  );
}

function Request({ code, onOther }: { readonly code: string; readonly onOther: () => void }) {
  const zone = useZone();
  const [asked, setAsked] = useState<'approve' | 'deny'>();
  const [decided, setDecidedText] = useState<string>();
  const setDecided = (words: string): void => {
    forgetDeviceCode();
    setDecidedText(words);
  };
  const { data, error } = useQuery({ ...question('device_sign_ins.get', { params: { user_code: code } }), retry: false });
  const other = <Button onClick={onOther}>Another code</Button>;
  if (error !== null)
    return (
      <>
        <Failure error={error} />
        {other}
      </>
    );
  if (data === undefined) return <Skeleton rows={6} />;
  const isOpen = data.state === 'waiting' && decided === undefined;
  return (
    <>
      <Panel title="It asks to act for you">
        <Facts
          rows={[
            ['Code', <code key="code">{code}</code>],
            ['Calls itself', <b key="name">{data.client_name}</b>],
            ['From the address', data.address ?? 'unknown'],
            ['Asked', showTime(data.created_at, zone)],
            ['Can be approved until', showTime(data.expires_at, zone)],
            ['Would be able to', data.permissions.length === 0 ? 'nothing: you have none of the permissions' : data.permissions.join(', ')],
            ['For', data.users === null ? 'all users' : data.users.join(', ')],
            ['Its token lasts', showDuration(data.lasts_s * 1000)],
          ]}
        />
      </Panel>
      {decided !== undefined && <Notice tone="info">{decided}</Notice>}
      {data.state !== 'waiting' && decided === undefined && (
        <Notice tone="info">It was {data.state === 'granted' ? 'approved' : 'refused'} before.</Notice>
      )}
      {isOpen && (
        <>
          <Notice tone="warning">
            Anybody can claim any name. Approve only if you have just started it yourself, and the code is the same.
          </Notice>
          <p>
            <Button kind="main" onClick={() => setAsked('approve')}>
              Approve
            </Button>{' '}
            <Button kind="danger" onClick={() => setAsked('deny')}>
              Refuse
            </Button>
          </p>
        </>
      )}
      {!isOpen && other}
      {asked !== undefined && (
        <Decision asked={asked} code={code} name={data.client_name} onClose={() => setAsked(undefined)} onDecided={setDecided} />
      )}
    </>
  );
}

type DecisionProps = {
  readonly asked: 'approve' | 'deny';
  readonly code: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly onDecided: (words: string) => void;
};

function Decision({ asked, code, name, onClose, onDecided }: DecisionProps) {
  const shared = { onClose, forgets: ['device_sign_ins', 'admin_tokens'] };
  return (
    <>
      {asked === 'approve' && (
        <ChangeDialog
          open
          {...shared}
          title={`Let ${name} act for you?`}
          action="Approve"
          operation="device_sign_ins.approve"
          input={{ params: { user_code: code }, body: {} }}
          command={`weir console approve ${quote(code)}`}
          onDone={() =>
            onDecided('Approved: the command line goes on by itself. Its token stands in the settings, and can be ended there.')
          }
        >
          {() => <p>It gets an admin token with the permissions that are listed.</p>}
        </ChangeDialog>
      )}
      {asked === 'deny' && (
        <ChangeDialog
          open
          {...shared}
          title={`Refuse ${name}?`}
          action="Refuse it"
          danger
          operation="device_sign_ins.deny"
          input={{ params: { user_code: code } }}
          command={`weir console approve ${quote(code)} --deny`}
          onDone={() => onDecided('Refused: the command line says so and ends.')}
        >
          {() => <p>It gets no token.</p>}
        </ChangeDialog>
      )}
    </>
  );
}
