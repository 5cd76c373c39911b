import type { AdminTokenStore } from './admin-token-store.ts';
import type { DeviceSignInStore } from './devices/device-sign-in-store.ts';
import type { KeySessionStore } from './keys/key-session-store.ts';
import type { PeopleStore } from './people-store.ts';
import type { SessionStore } from './session-store.ts';

/** The store of people, their sessions and admin tokens. */
export type PeopleStores = PeopleStore & SessionStore & AdminTokenStore & DeviceSignInStore & KeySessionStore;
