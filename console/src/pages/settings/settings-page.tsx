import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';

import { may, type Session } from '../../api/sign-in.ts';
import { PageHead } from '../../components/page-head.tsx';
import { usePathPart, useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { tabClass, Tabs } from '../../ui/tabs.tsx';
import { NotFound } from '../not-found.tsx';
import { AboutSection } from './about-section.tsx';
import { CallbacksSection } from './callbacks-section.tsx';
import { CapturesSection } from './captures-section.tsx';
import { ConfigSection } from './config-section.tsx';
import { LayersSection } from './layers-section.tsx';
import { NodesSection } from './nodes-section.tsx';
import { OwnSection } from './own-section.tsx';
import { PeopleSection } from './people-section.tsx';
import { TokensSection } from './tokens-section.tsx';

type Section = {
  readonly name: string;
  readonly text: string;
  /** Undefined: everybody sees it. */
  readonly permission?: Session['permissions'][number];
  readonly show: ComponentType;
};

const sections: readonly Section[] = [
  { name: 'you', text: 'You', show: OwnSection },
  { name: 'people', text: 'People & ways in', permission: 'people:write', show: PeopleSection },
  { name: 'tokens', text: 'Tokens', permission: 'tokens:write', show: TokensSection },
  { name: 'callbacks', text: 'Callbacks', permission: 'calls:read', show: CallbacksSection },
  { name: 'captures', text: 'Captures', permission: 'calls:read', show: CapturesSection },
  { name: 'config', text: 'Configuration', permission: 'config:read', show: ConfigSection },
  { name: 'layers', text: 'Layers', permission: 'config:read', show: LayersSection },
  { name: 'nodes', text: 'Gateways', permission: 'upstreams:read', show: NodesSection },
  { name: 'about', text: 'About', show: AboutSection },
];

/** People, ways in, and what is in force. */
export function SettingsPage() {
  const session = useSession();
  const wanted = usePathPart('section');
  const own = sections.filter(({ permission }) => permission === undefined || may(session, permission));
  const open = wanted === '' ? own[0] : own.find(({ name }) => name === wanted);
  if (open === undefined) return <NotFound />;
  const { show: Content } = open;
  return (
    <>
      <PageHead title="Settings" />
      <Tabs label="Settings">
        {own.map(({ name, text }) => (
          <Link key={name} to={paths.setting(name)} className={tabClass} aria-current={name === open.name ? 'page' : undefined}>
            {text}
          </Link>
        ))}
        <Link to={paths.operations} className={tabClass}>
          Long work
        </Link>
      </Tabs>
      <Content />
    </>
  );
}
