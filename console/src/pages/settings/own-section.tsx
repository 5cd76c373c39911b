import { useState } from 'react';

import { signOut } from '../../api/sign-in.ts';
import {
  areFirstStepsShown,
  chooseDensity,
  chooseTheme,
  chooseZone,
  presentDensity,
  presentTheme,
  presentZoneChoice,
  showFirstSteps,
} from '../../components/appearance.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { say } from '../../ui/toasts.tsx';
import { areLettersOn } from '../../ui/use-keys.ts';
import { OwnSessions } from './sessions-table.tsx';
import styles from './settings.module.css';

/** What is only about the person at this browser: appearance, shortcuts, zone, password and sessions. */
export function OwnSection() {
  const session = useSession();
  const { person } = session;
  const [isChanging, setIsChanging] = useState(false);
  return (
    <div className={styles['sections']}>
      <Appearance />
      <Panel title="Sign-in">
        <Facts
          rows={[
            ['Signed in as', person?.name ?? session.actor],
            ['Role', person?.role ?? 'of a key or token'],
            ['Sees', session.users === null ? 'all users' : session.users.join(', ') || 'no user'],
            ['Permissions', session.permissions.join(', ')],
          ]}
        />
        <p className={styles['actions']}>
          {person !== null && (
            <Button onClick={() => setIsChanging(true)}>{person.has_password ? 'Change the password' : 'Set a password'}</Button>
          )}
          <Button onClick={() => void signOut(false)}>Sign out</Button>
          <Button kind="danger" onClick={() => void signOut(true)}>
            Sign out everywhere
          </Button>
        </p>
      </Panel>
      {person !== null && (
        <Panel title="Your sessions">
          <OwnSessions />
        </Panel>
      )}
      {isChanging && <PasswordDialog onClose={() => setIsChanging(false)} />}
    </div>
  );
}

function Appearance() {
  const [theme, setTheme] = useState(presentTheme);
  const [density, setDensity] = useState(presentDensity);
  const [zone, setZone] = useState(presentZoneChoice);
  const { time_zone: reporting } = useSession();
  return (
    <Panel title="Appearance">
      <div className={styles['form']}>
        <SelectField
          label="Theme"
          value={theme}
          options={[
            { value: 'system', text: 'as the system' },
            { value: 'light', text: 'light' },
            { value: 'dark', text: 'dark' },
          ]}
          onChange={(value) => {
            chooseTheme(value);
            setTheme(value);
          }}
        />
        <SelectField
          label="Rows of tables"
          value={density}
          options={[
            { value: 'normal', text: 'normal' },
            { value: 'comfortable', text: 'high' },
            { value: 'compact', text: 'low' },
          ]}
          onChange={(value) => {
            chooseDensity(value);
            setDensity(value);
          }}
        />
        <SelectField
          label="Times are shown in"
          help="Days of statistics stay those of the reporting zone."
          value={zone}
          options={[
            { value: 'reporting', text: `the reporting zone (${reporting})` },
            { value: 'UTC', text: 'UTC' },
            { value: 'browser', text: `the zone of this browser (${Intl.DateTimeFormat().resolvedOptions().timeZone})` },
          ]}
          onChange={(value) => {
            chooseZone(value);
            setZone(value);
          }}
        />
      </div>
      <Habits />
    </Panel>
  );
}

/** What this browser does by itself. */
function Habits() {
  const [steps, setSteps] = useState(areFirstStepsShown);
  const [letters, setLetters] = useState(areLettersOn);
  return (
    <div className={styles['form']}>
      <CheckField
        label="The overview shows the first steps"
        help="While some of them are open."
        checked={steps}
        onChange={(checked) => {
          showFirstSteps(checked);
          setSteps(checked);
        }}
      />
      <CheckField
        label="Single letters are shortcuts"
        help="Turn this off if you speak to your device, or press keys by accident."
        checked={letters}
        onChange={(checked) => {
          localStorage.setItem('weir.letters', checked ? 'on' : 'off');
          setLetters(checked);
        }}
      />
    </div>
  );
}

function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Your password"
      action="Set the password"
      operation="session.set_password"
      input={{ body: { password } }}
      forgets={['session', 'people']}
      disabledBecause={password === '' ? 'The password is missing.' : undefined}
      onDone={() => say('The password is set', 'Your other sessions have ended.')}
    >
      {(errors) => (
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          help="At least 12 characters, any characters. It ends your other sessions."
          value={password}
          error={errors['password']}
          required
          onChange={setPassword}
        />
      )}
    </ChangeDialog>
  );
}
