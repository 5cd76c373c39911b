import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { type Session, signOut } from '../api/sign-in.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { loadAgain } from '../ui/load-again.ts';
import { Menu } from '../ui/menu.tsx';
import { say } from '../ui/toasts.tsx';
import { setPrefixed, useKeys } from '../ui/use-keys.ts';
import { allEntries, entries, mayOpen } from './entries.ts';
import { chooseTheme, presentTheme } from './appearance.ts';
import { Freshness } from './freshness.tsx';
import styles from './frame.module.css';
import { SessionEnded } from './session-ended.tsx';
import { useSession } from './use-page.ts';

// What opens on demand is not in the first load.
const Palette = lazy(loadAgain(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component }))));
const KeyHelp = lazy(loadAgain(() => import('./key-help.tsx').then(({ KeyHelp: component }) => ({ default: component }))));

/** What opens the search, on the keyboard of this machine. */
const searchKeys = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

export function Frame() {
  const session = useSession();
  const [isNavOpen, setIsNavOpen] = useState(false);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setIsNavOpen(false), [path]);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      setIsPaletteOpen(true);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  useGoTo();
  useKeys({ '?': () => setIsHelpOpen(true) });
  return (
    <div className={styles['frame']}>
      <a className={styles['skip']} href="#page">
        Skip to the page
      </a>
      <header className={styles['bar']}>
        <span className={styles['burger']}>
          <Button kind="quiet" icon="menu" label="Pages" pressed={isNavOpen} onClick={() => setIsNavOpen(!isNavOpen)} />
        </span>
        <button type="button" className={styles['search']} aria-keyshortcuts="Control+K Meta+K" onClick={() => setIsPaletteOpen(true)}>
          <Icon name="search" />
          <span>Search or go to</span>
          <kbd>{searchKeys}</kbd>
        </button>
        <Freshness />
        <PersonMenu session={session} onHelp={() => setIsHelpOpen(true)} />
      </header>
      <nav className={styles['nav']} aria-label="Pages" data-open={isNavOpen}>
        <Link to={paths.overview} className={styles['brand']}>
          <img src="/icon.svg" width="24" height="24" alt="" />
          <span>Weir</span>
        </Link>
        <Entries session={session} path={path} />
      </nav>
      <main className={styles['page']} id="page" tabIndex={-1}>
        <SessionEnded />
        <Outlet />
      </main>
      <Suspense>
        {isPaletteOpen && <Palette open onClose={() => setIsPaletteOpen(false)} />}
        {isHelpOpen && <KeyHelp open onClose={() => setIsHelpOpen(false)} />}
      </Suspense>
    </div>
  );
}

/** The pages that the session may read. */
function Entries({ session, path }: { readonly session: Session; readonly path: string }) {
  return entries.map((group) => (
    <ul key={group[0]?.to}>
      {group
        .filter((entry) => mayOpen(session, entry))
        .map(({ text: textForAll, ownText, to, also, icon }) => ({
          text: session.users === null ? textForAll : (ownText ?? textForAll),
          to,
          also,
          icon,
        }))
        .map(({ text, to, also, icon }) => (
          <li key={to}>
            <Link
              to={to}
              className={styles['entry']}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              aria-current={also?.some((other) => path.startsWith(other)) === true ? 'page' : undefined}
              aria-label={text}
            >
              <Icon name={icon} />
              <span>{text}</span>
            </Link>
          </li>
        ))}
    </ul>
  ));
}

/** `c` copies the address, which shows the same to everybody who may see it. */
async function copyAddress(): Promise<void> {
  await navigator.clipboard.writeText(location.href).then(
    () => say('The address of this page is copied'),
    () => say('Copying is not permitted', 'Copy the address from the address bar.'),
  );
}

/** `g`, then the letter of a page. */
function useGoTo(): void {
  const navigate = useNavigate();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wait = (isGoing: boolean): void => {
    clearTimeout(timer.current);
    setPrefixed(isGoing);
    if (isGoing) timer.current = setTimeout(() => setPrefixed(false), 1500);
  };
  const letters = Object.fromEntries(
    allEntries.map(({ letter, to }) => [
      letter,
      () => {
        wait(false);
        void navigate({ to });
      },
    ]),
  );
  useKeys({ g: () => wait(true), c: () => void copyAddress() });
  useKeys(letters, 'a prefix');
}

function PersonMenu({ session, onHelp }: { readonly session: Session; readonly onHelp: () => void }) {
  const { person, actor, users } = session;
  // Who signed in with a key or token knows its user, not its id.
  const [name, role] =
    person === null ? [users?.length === 1 ? users[0] : 'all users', actor.split(':')[0]?.replace('_', ' ')] : [person.name, person.role];
  const theme = presentTheme();
  return (
    <Menu
      trigger={
        <button type="button" className={styles['person']}>
          <Icon name="person" />
          <span className={styles['name']}>{name}</span>
          <small>{role}</small>
          <span className="visually-hidden">account</span>
        </button>
      }
      entries={[
        { text: theme === 'dark' ? 'Light theme' : 'Dark theme', onSelect: () => chooseTheme(theme === 'dark' ? 'light' : 'dark') },
        { text: "The system's theme", onSelect: () => chooseTheme('system') },
        { text: 'Keyboard shortcuts', onSelect: onHelp },
        { kind: 'line' },
        { text: 'Sign out', onSelect: () => void signOut(false) },
        { text: 'Sign out everywhere', onSelect: () => void signOut(true) },
      ]}
    />
  );
}
