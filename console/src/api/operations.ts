// Written by `npm run docs` from the operations of the admin API. Do not edit.

/** The parts of each operation, by its id. */
export type Operations = {
  /** Signs in, by a one-time link, by name and password, or by a key or token if console.signIn allows it */
  'session.create': { params: {}; query: {}; body: { code: string } | { name: string; password: string } | { api_key: string } | { billing_token: string }; reply: { person: { id: string; name: string; role: "viewer" | "owner" | "finance" | "operator" } | null; expires_at: string } };
  /** The caller and its permissions */
  'session.get': { params: {}; query: {}; body: undefined; reply: { person: { id: string; name: string; role: "viewer" | "owner" | "finance" | "operator"; has_password: boolean } | null; actor: string; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; signed_in_at: string | null; time_zone: string; version: string } };
  /** Signs out; with `everywhere`, ends all sessions of the person, key or token */
  'session.delete': { params: {}; query: { everywhere?: boolean }; body: undefined; reply: undefined };
  /** The ways to sign in, for the page that offers them */
  'session.ways': { params: {}; query: {}; body: undefined; reply: { link: boolean; password: boolean; api_key: boolean; billing_token: boolean; oidc: { issuer: string; start: string } | null } };
  /** Proves again who the person is, for operations that need a recent sign-in */
  'session.confirm': { params: {}; query: {}; body: { code: string } | { password: string }; reply: { confirmed: boolean } };
  /** Sets the password of the person, and ends its other sessions */
  'session.set_password': { params: {}; query: {}; body: { password: string }; reply: undefined };
  /** All people, oldest first */
  'people.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; name: string; role: "viewer" | "owner" | "finance" | "operator"; users: readonly (string)[]; email: string | null; has_password: boolean; oidc: { issuer: string; subject: string } | null; created_at: string; disabled_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Makes a person, who signs in by a link at first */
  'people.create': { params: {}; query: {}; body: { name: string; role: "viewer" | "owner" | "finance" | "operator"; users?: readonly (string)[]; email?: string }; reply: { id: string; name: string; role: "viewer" | "owner" | "finance" | "operator"; users: readonly (string)[]; email: string | null; has_password: boolean; oidc: { issuer: string; subject: string } | null; created_at: string; disabled_at: string | null } };
  /** One person */
  'people.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; name: string; role: "viewer" | "owner" | "finance" | "operator"; users: readonly (string)[]; email: string | null; has_password: boolean; oidc: { issuer: string; subject: string } | null; created_at: string; disabled_at: string | null } };
  /** Changes a person; a new role, and disabling, end the sessions */
  'people.update': { params: { id: string }; query: {}; body: { name?: string; role?: "viewer" | "owner" | "finance" | "operator"; users?: readonly (string)[]; disabled?: boolean; email?: string | null }; reply: { id: string; name: string; role: "viewer" | "owner" | "finance" | "operator"; users: readonly (string)[]; email: string | null; has_password: boolean; oidc: { issuer: string; subject: string } | null; created_at: string; disabled_at: string | null } };
  /** Removes a person, its sessions and its admin tokens */
  'people.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** A link that signs the person in, once, within 15 minutes */
  'people.link': { params: { id: string }; query: {}; body: undefined; reply: { url: string; expires_at: string } };
  /** The sessions of a person, newest first */
  'people.list_sessions': { params: { id: string }; query: {}; body: undefined; reply: { items: readonly ({ id: string; way: "link" | "password" | "oidc"; created_at: string; signed_in_at: string; used_at: string; expires_at: string; address: string | null; user_agent: string | null; is_present: boolean })[]; next_cursor: string | null; as_of: string } };
  /** Ends all sessions of a person */
  'people.end_sessions': { params: { id: string }; query: {}; body: undefined; reply: { ended: number } };
  /** All admin tokens, oldest first */
  'admin_tokens.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; name: string; ends_in: string; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; made_by: string | null; created_at: string; expires_at: string; previous_until: string | null; last_used_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Makes an admin token, and shows its secret once */
  'admin_tokens.create': { params: {}; query: {}; body: { name: string; permissions?: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users?: readonly (string)[]; lasts_s?: number }; reply: { id: string; name: string; ends_in: string; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; made_by: string | null; created_at: string; expires_at: string; previous_until: string | null; last_used_at: string | null; secret: string } };
  /** Gives a token a new secret; the old one works for the overlap */
  'admin_tokens.rotate': { params: { id: string }; query: {}; body: { overlap_s: number }; reply: { id: string; name: string; ends_in: string; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; made_by: string | null; created_at: string; expires_at: string; previous_until: string | null; last_used_at: string | null; secret: string } };
  /** Ends the token with which the request is made */
  'admin_tokens.revoke_own': { params: {}; query: {}; body: undefined; reply: undefined };
  /** Ends a token */
  'admin_tokens.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Begins the sign-in of a command line on another machine */
  'device_sign_ins.create': { params: {}; query: {}; body: { client_name: string; permissions?: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; lasts_s?: number }; reply: { device_code: string; user_code: string; verification_uri: string; verification_uri_complete: string; expires_in: number; interval: number } };
  /** What asks to be signed in, and what it would get: to be compared before it is approved */
  'device_sign_ins.get': { params: { user_code: string }; query: {}; body: undefined; reply: { id: string; client_name: string; address: string | null; state: "waiting" | "granted" | "denied"; asks_for: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[] | null; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; lasts_s: number; created_at: string; expires_at: string } };
  /** Gives the machine an admin token with a part of your own permissions */
  'device_sign_ins.approve': { params: { user_code: string }; query: {}; body: { permissions?: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users?: readonly (string)[] }; reply: { id: string; client_name: string; address: string | null; state: "waiting" | "granted" | "denied"; asks_for: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[] | null; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; lasts_s: number; created_at: string; expires_at: string } };
  /** Refuses the machine */
  'device_sign_ins.deny': { params: { user_code: string }; query: {}; body: undefined; reply: undefined };
  /** The token of the machine, once, after a person has approved */
  'device_sign_ins.token': { params: {}; query: {}; body: { device_code: string }; reply: { access_token: string; token_type: "Bearer"; expires_in: number; token: { id: string; name: string; ends_in: string; permissions: readonly ("usage:read" | "calls:read" | "credits:read" | "prices:read" | "content:read" | "keys:read" | "keys:write" | "playground:use" | "credits:write" | "reconcile:run" | "prices:stage" | "prices:publish" | "limits:write" | "upstreams:read" | "upstreams:write" | "config:read" | "config:write" | "people:write" | "tokens:write" | "audit:read")[]; users: readonly (string)[] | null; made_by: string | null; created_at: string; expires_at: string; previous_until: string | null; last_used_at: string | null } } };
  /** The billing tokens of the monitor, oldest first */
  'billing_tokens.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; name: string; user: string | null; created_at: string; expires_at: string | null; previous_until: string | null; last_used_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Makes a billing token, and shows its secret once */
  'billing_tokens.create': { params: {}; query: {}; body: { name: string; user?: string; expires_at?: string }; reply: { id: string; name: string; user: string | null; created_at: string; expires_at: string | null; previous_until: string | null; last_used_at: string | null; secret: string } };
  /** Gives a token a new secret; the old one works for the overlap */
  'billing_tokens.rotate': { params: { id: string }; query: {}; body: { overlap_s: number }; reply: { id: string; name: string; user: string | null; created_at: string; expires_at: string | null; previous_until: string | null; last_used_at: string | null; secret: string } };
  /** Ends a token */
  'billing_tokens.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** All teams, oldest first */
  'teams.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; name: string; created_at: string; users: readonly (string)[]; content: "off" | "masked" | "full" | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null })[]; next_cursor: string | null; as_of: string } };
  /** Makes a team */
  'teams.create': { params: {}; query: {}; body: { name: string; prepaid?: boolean; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null } }; reply: { id: string; name: string; created_at: string; users: readonly (string)[]; content: "off" | "masked" | "full" | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null } };
  /** One team, with its balance */
  'teams.get': { params: { name: string }; query: {}; body: undefined; reply: { id: string; name: string; created_at: string; users: readonly (string)[]; content: "off" | "masked" | "full" | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null } };
  /** Changes the limits that all users of a team share, whether its balance pays, and how much of its calls is recorded */
  'teams.update': { params: { name: string }; query: {}; body: { prepaid?: boolean; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null }; content?: "off" | "masked" | "full" | null }; reply: { id: string; name: string; created_at: string; users: readonly (string)[]; content: "off" | "masked" | "full" | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null } };
  /** Removes a team without users; its calls keep its name */
  'teams.delete': { params: { name: string }; query: {}; body: undefined; reply: undefined };
  /** The limits that all keys share, and the balance */
  'organization.get': { params: {}; query: {}; body: undefined; reply: { prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } } };
  /** Changes the limits that all keys share, and whether the balance of the organization pays */
  'organization.update': { params: {}; query: {}; body: { prepaid?: boolean; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null } }; reply: { prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } } };
  /** The users that the caller may see, oldest first */
  'users.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ name: string; created_at: string; team: string | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null })[]; next_cursor: string | null; as_of: string } };
  /** Makes a user */
  'users.create': { params: {}; query: {}; body: { name: string; team?: string; prepaid?: boolean; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null } }; reply: { name: string; created_at: string; team: string | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null } };
  /** One user, with its balance */
  'users.get': { params: { name: string }; query: {}; body: undefined; reply: { name: string; created_at: string; team: string | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null } };
  /** Changes the team of a user, and the limits that all its keys share */
  'users.update': { params: { name: string }; query: {}; body: { team?: string | null; prepaid?: boolean; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null } }; reply: { name: string; created_at: string; team: string | null; prepaid: boolean; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; balance: { nano_usd: string; usd: string } | null } };
  /** API keys that are not deleted, newest first */
  'keys.list': { params: {}; query: { user?: string; state?: "enabled" | "disabled"; expires_before?: string; unused_since?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; user: string; team: string | null; name: string; issuer: string | null; ends_in: string; state: "active" | "disabled" | "expired"; created_at: string; disabled_at: string | null; last_used_at: string | null; previous_until: string | null; strict_translation: boolean; response_retention_days: number | null; disconnect: "abort" | "drain" | "deliver" | null; content: "off" | "masked" | "full" | null; tags: { readonly [name: string]: string }; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null } })[]; next_cursor: string | null; as_of: string } };
  /** Makes an API key, and its user if there is none of that name; shows its secret once */
  'keys.create': { params: {}; query: {}; body: { user: string; name: string; strict_translation?: boolean; response_retention_days?: number | null; disconnect?: "abort" | "drain" | "deliver" | null; content?: "off" | "masked" | "full" | null; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null }; tags?: { readonly [name: string]: string } }; reply: { id: string; user: string; team: string | null; name: string; issuer: string | null; ends_in: string; state: "active" | "disabled" | "expired"; created_at: string; disabled_at: string | null; last_used_at: string | null; previous_until: string | null; strict_translation: boolean; response_retention_days: number | null; disconnect: "abort" | "drain" | "deliver" | null; content: "off" | "masked" | "full" | null; tags: { readonly [name: string]: string }; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; secret: string } };
  /** Changes many keys, each with its own result */
  'keys.batch': { params: {}; query: {}; body: { ids: readonly (string)[]; disabled?: boolean; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null } }; reply: { results: readonly ({ id: string; outcome: "changed" | "not_found" | "failed" })[] } };
  /** One API key */
  'keys.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; user: string; team: string | null; name: string; issuer: string | null; ends_in: string; state: "active" | "disabled" | "expired"; created_at: string; disabled_at: string | null; last_used_at: string | null; previous_until: string | null; strict_translation: boolean; response_retention_days: number | null; disconnect: "abort" | "drain" | "deliver" | null; content: "off" | "masked" | "full" | null; tags: { readonly [name: string]: string }; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null } } };
  /** Changes an API key; takes effect within about a second */
  'keys.update': { params: { id: string }; query: {}; body: { disabled?: boolean; strict_translation?: boolean; response_retention_days?: number | null; disconnect?: "abort" | "drain" | "deliver" | null; content?: "off" | "masked" | "full" | null; limits?: { requests_per_minute?: number | null; tokens_per_minute?: number | null; concurrency?: number | null; models?: readonly (string)[] | null; upstreams?: readonly (string)[] | null; addresses?: readonly (string)[] | null; spend_per_day_usd?: string | null; spend_per_month_usd?: string | null; spend_total_usd?: string | null; media_retention_days?: number | null; media_bytes_max?: number | null; expires_at?: string | null }; tags?: { readonly [name: string]: string } }; reply: { id: string; user: string; team: string | null; name: string; issuer: string | null; ends_in: string; state: "active" | "disabled" | "expired"; created_at: string; disabled_at: string | null; last_used_at: string | null; previous_until: string | null; strict_translation: boolean; response_retention_days: number | null; disconnect: "abort" | "drain" | "deliver" | null; content: "off" | "masked" | "full" | null; tags: { readonly [name: string]: string }; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null } } };
  /** Ends a key for good; its usage stays in the books */
  'keys.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Gives a key a new secret, shown once; the old one works for the overlap */
  'keys.rotate': { params: { id: string }; query: {}; body: { overlap_s: number }; reply: { id: string; user: string; team: string | null; name: string; issuer: string | null; ends_in: string; state: "active" | "disabled" | "expired"; created_at: string; disabled_at: string | null; last_used_at: string | null; previous_until: string | null; strict_translation: boolean; response_retention_days: number | null; disconnect: "abort" | "drain" | "deliver" | null; content: "off" | "masked" | "full" | null; tags: { readonly [name: string]: string }; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null; models: readonly (string)[] | null; upstreams: readonly (string)[] | null; addresses: readonly (string)[] | null; spend_per_day_usd: string | null; spend_per_month_usd: string | null; spend_total_usd: string | null; media_retention_days: number | null; media_bytes_max: number | null; expires_at: string | null }; secret: string } };
  /** Booked calls, newest first; a page may end before its limit, and the cursor continues */
  'calls.list': { params: {}; query: { from?: string; to?: string; user?: readonly (string)[]; key_id?: readonly (string)[]; model?: readonly (string)[]; served_model?: readonly (string)[]; team?: readonly (string)[]; tag?: readonly (string)[]; upstream?: readonly (string)[]; interface?: readonly (string)[]; end?: readonly ("finished" | "client-left" | "cut" | "failed" | "lost")[]; error_code?: readonly (string)[]; status_class?: readonly (number)[]; flag?: readonly ("stream" | "translated" | "estimated" | "video" | "adapted" | "emulated" | "dropped" | "unchecked" | "repeated")[]; amount_min_usd?: string; amount_max_usd?: string; tokens_min?: number; tokens_max?: number; duration_min_ms?: number; duration_max_ms?: number; first_byte_min_ms?: number; first_byte_max_ms?: number; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; at: string; user: string; key_id: string; key: string; model: string; served_model: string | null; upstream: string | null; upstream_model: string | null; interface: string; team: string | null; tags: { readonly [name: string]: string }; end: "finished" | "client-left" | "cut" | "failed" | "lost"; error_code: string | null; status: number | null; flags: readonly ("stream" | "translated" | "estimated" | "video" | "adapted" | "emulated" | "dropped" | "unchecked" | "repeated")[]; prompt_tokens: number; completion_tokens: number; first_byte_ms: number | null; duration_ms: number; amount: { nano_usd: string; usd: string } })[]; next_cursor: string | null; searched_to: string; pending_calls: number; as_of: string } };
  /** Numbers of calls by time and end; it may not reach the beginning of the span, and says how far it counted */
  'calls.histogram': { params: {}; query: { from: string; to: string; user?: readonly (string)[]; key_id?: readonly (string)[]; model?: readonly (string)[]; served_model?: readonly (string)[]; team?: readonly (string)[]; tag?: readonly (string)[]; upstream?: readonly (string)[]; interface?: readonly (string)[]; end?: readonly ("finished" | "client-left" | "cut" | "failed" | "lost")[]; error_code?: readonly (string)[]; status_class?: readonly (number)[]; flag?: readonly ("stream" | "translated" | "estimated" | "video" | "adapted" | "emulated" | "dropped" | "unchecked" | "repeated")[]; amount_min_usd?: string; amount_max_usd?: string; tokens_min?: number; tokens_max?: number; duration_min_ms?: number; duration_max_ms?: number; first_byte_min_ms?: number; first_byte_max_ms?: number }; body: undefined; reply: { bucket_ms: number; items: readonly ({ start: string; ends: { finished: number; "client-left": number; cut: number; failed: number; lost: number } })[]; searched_to: string; pending_calls: number; as_of: string } };
  /** All calls that a filter selects, newest first, as CSV, JSON Lines or a workbook with as many sheets as they need */
  'calls.export': { params: {}; query: { from?: string; to?: string; user?: readonly (string)[]; key_id?: readonly (string)[]; model?: readonly (string)[]; served_model?: readonly (string)[]; team?: readonly (string)[]; tag?: readonly (string)[]; upstream?: readonly (string)[]; interface?: readonly (string)[]; end?: readonly ("finished" | "client-left" | "cut" | "failed" | "lost")[]; error_code?: readonly (string)[]; status_class?: readonly (number)[]; flag?: readonly ("stream" | "translated" | "estimated" | "video" | "adapted" | "emulated" | "dropped" | "unchecked" | "repeated")[]; amount_min_usd?: string; amount_max_usd?: string; tokens_min?: number; tokens_max?: number; duration_min_ms?: number; duration_max_ms?: number; first_byte_min_ms?: number; first_byte_max_ms?: number; format: "csv" | "jsonl" | "xlsx" }; body: undefined; reply: undefined };
  /** Everything that the books know about a call, by any of its ids */
  'calls.get': { params: { id: string }; query: {}; body: undefined; reply: { receipt: { readonly [name: string]: unknown }; transactions: readonly ({ id: string; posted_at: string | null; amount: { nano_usd: string; usd: string } })[] } };
  /** Sums of usage in buckets of time and groups; series and other add up to the totals */
  'usage.query': { params: {}; query: {}; body: { from: string; to: string; time_zone?: string; granularity?: "auto" | "none" | "minute" | "hour" | "day" | "week" | "month"; extra?: readonly ("failed" | "cut" | "first_byte" | "duration")[]; group_by?: readonly ("user" | "key" | "model" | "team" | "upstream" | "upstream_model" | "interface" | "end" | string)[]; filters?: { user?: readonly (string)[]; key_id?: readonly (string)[]; model?: readonly (string)[]; team?: readonly (string)[]; tag?: readonly (string)[]; upstream?: readonly (string)[]; upstream_model?: readonly (string)[]; interface?: readonly (string)[]; end?: readonly ("finished" | "client-left" | "cut" | "failed" | "lost")[] }; limit?: number; rank_by?: "amount" | "calls" | "tokens_in" | "tokens_out" | "use_time" | "failed"; compare?: "previous" | "year" }; reply: { time_zone: string; granularity: string; from: string; to: string; bucket_starts: readonly (string)[]; totals: { total: { amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null }; buckets: readonly ({ amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null })[] }; series: readonly ({ names: readonly (string)[]; total: { amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null }; buckets: readonly ({ amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null })[] })[]; other: { total: { amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null }; buckets: readonly ({ amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null })[] } | null; comparison: { from: string; to: string; bucket_starts: readonly (string)[]; totals: { total: { amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null }; buckets: readonly ({ amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null })[] }; series: readonly ({ names: readonly (string)[]; total: { amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null }; buckets: readonly ({ amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null })[] })[]; other: { total: { amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null }; buckets: readonly ({ amount: { nano_usd: string; usd: string }; calls: number; tokens_in: number; tokens_out: number; cache_read: number; cache_write: number; use_time_ms: number; failed: number | null; cut: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p95_ms: number | null })[] } | null } | null; pending_calls: number; complete_until: string | null; as_of: string } };
  /** The rows of a usage question as CSV, JSON Lines or a workbook; their sums are the totals of the question */
  'usage.export': { params: {}; query: {}; body: { question: { from: string; to: string; time_zone?: string; granularity?: "auto" | "none" | "minute" | "hour" | "day" | "week" | "month"; extra?: readonly ("failed" | "cut" | "first_byte" | "duration")[]; group_by?: readonly ("user" | "key" | "model" | "team" | "upstream" | "upstream_model" | "interface" | "end" | string)[]; filters?: { user?: readonly (string)[]; key_id?: readonly (string)[]; model?: readonly (string)[]; team?: readonly (string)[]; tag?: readonly (string)[]; upstream?: readonly (string)[]; upstream_model?: readonly (string)[]; interface?: readonly (string)[]; end?: readonly ("finished" | "client-left" | "cut" | "failed" | "lost")[] }; limit?: number; rank_by?: "amount" | "calls" | "tokens_in" | "tokens_out" | "use_time" | "failed"; compare?: "previous" | "year" }; format: "csv" | "jsonl" | "xlsx" }; reply: undefined };
  /** The caller's saved views and all shared ones, newest first */
  'saved_views.list': { params: {}; query: { page?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; name: string; page: string; query: { readonly [name: string]: unknown }; shared: boolean; owner: string; is_own: boolean; created_at: string; changed_at: string })[]; next_cursor: string | null; as_of: string } };
  /** Keeps a view of a page, private unless it is shared; a person has at most 200 */
  'saved_views.create': { params: {}; query: {}; body: { name: string; page: string; query: { readonly [name: string]: unknown }; shared?: boolean }; reply: { id: string; name: string; page: string; query: { readonly [name: string]: unknown }; shared: boolean; owner: string; is_own: boolean; created_at: string; changed_at: string } };
  /** One saved view */
  'saved_views.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; name: string; page: string; query: { readonly [name: string]: unknown }; shared: boolean; owner: string; is_own: boolean; created_at: string; changed_at: string } };
  /** Changes a saved view: its owner may, and an operator if it is shared */
  'saved_views.update': { params: { id: string }; query: {}; body: { name?: string; query?: { readonly [name: string]: unknown }; shared?: boolean }; reply: { id: string; name: string; page: string; query: { readonly [name: string]: unknown }; shared: boolean; owner: string; is_own: boolean; created_at: string; changed_at: string } };
  /** Deletes a saved view: its owner may, and an operator if it is shared */
  'saved_views.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Reads a vendor's export of usage or costs, and compares it with the ledger; an operation */
  'reconciliations.create': { params: {}; query: {}; body: { vendor: "openai" | "anthropic" | "google"; upstream?: string; from?: string; to?: string; tolerance?: string; prices?: string; file: string }; reply: { id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null } };
  /** Comparisons of the ledger with vendors' exports, newest first; they are kept for 400 days */
  'reconciliations.list': { params: {}; query: { vendor?: "openai" | "anthropic" | "google"; upstream?: string; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; created_at: string; actor: string; vendor: string; upstream: string | null; kind: "usage" | "costs"; time_zone: string; from: string; to: string; tolerance: string; prices: string; file: { name: string; bytes: number; sha256: string }; operation_id: string | null; state: "comparing" | "agrees" | "differs" | "failed" | "cancelled"; problem: { code: string; detail: string } | null; compared: number | null; differing: number | null; over_tolerance: number | null; ours: { nano_usd: string; usd: string } | null; theirs: { nano_usd: string; usd: string } | null; charged: { nano_usd: string; usd: string } | null; ended_at: string | null; note: string | null; accepted: { at: string; by: string } | null })[]; next_cursor: string | null; as_of: string } };
  /** One comparison, by model and day; null as its result until it is compared */
  'reconciliations.get': { params: { id: string }; query: { differing?: boolean }; body: undefined; reply: { id: string; created_at: string; actor: string; vendor: string; upstream: string | null; kind: "usage" | "costs"; time_zone: string; from: string; to: string; tolerance: string; prices: string; file: { name: string; bytes: number; sha256: string }; operation_id: string | null; state: "comparing" | "agrees" | "differs" | "failed" | "cancelled"; problem: { code: string; detail: string } | null; compared: number | null; differing: number | null; over_tolerance: number | null; ours: { nano_usd: string; usd: string } | null; theirs: { nano_usd: string; usd: string } | null; charged: { nano_usd: string; usd: string } | null; ended_at: string | null; note: string | null; accepted: { at: string; by: string } | null; result: { cells: readonly ({ model: string; day: string; usage: readonly ({ class: "input" | "cache_read" | "cache_write_5m" | "cache_write_1h" | "output" | "web_searches" | "requests"; ours: number; theirs: number; difference: number; over_tolerance: boolean })[]; signs: { readonly [name: string]: number }; likely_causes: readonly (string)[] })[] | null; costs: readonly ({ day: string; model: string; item: string; ours: { nano_usd: string; usd: string }; theirs: { nano_usd: string; usd: string }; difference: { nano_usd: string; usd: string }; over_tolerance: boolean })[] | null; charged: readonly ({ day: string; model: string; charged: { nano_usd: string; usd: string } })[] | null; unread: readonly (string)[]; left_out: { readonly [name: string]: number } | null } | null } };
  /** Keeps a note, and accepts a comparison as it is or takes that back */
  'reconciliations.update': { params: { id: string }; query: {}; body: { note?: string | null; accepted?: boolean }; reply: { id: string; created_at: string; actor: string; vendor: string; upstream: string | null; kind: "usage" | "costs"; time_zone: string; from: string; to: string; tolerance: string; prices: string; file: { name: string; bytes: number; sha256: string }; operation_id: string | null; state: "comparing" | "agrees" | "differs" | "failed" | "cancelled"; problem: { code: string; detail: string } | null; compared: number | null; differing: number | null; over_tolerance: number | null; ours: { nano_usd: string; usd: string } | null; theirs: { nano_usd: string; usd: string } | null; charged: { nano_usd: string; usd: string } | null; ended_at: string | null; note: string | null; accepted: { at: string; by: string } | null } };
  /** The calls of one model and day, oldest first; a page may end before its limit, and the cursor continues */
  'reconciliations.calls': { params: { id: string }; query: { model: string; day: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ call_id: string; accepted_at: string; user: string; upstream: string; upstream_request_id: string | null; usage: { readonly [name: string]: number }; end: string; signs: readonly ("lost" | "estimated" | "interrupted" | "failed" | "failed attempt" | "over midnight")[]; explains_difference: boolean; failed_attempts: number })[]; next_cursor: string | null; as_of: string } };
  /** Teams and keys for which somebody has chosen how much of their content is recorded, and what that leads to */
  'content.choices': { params: {}; query: {}; body: undefined; reply: { ceiling: "off" | "masked" | "full"; items: readonly ({ kind: "team" | "key"; name: string; chosen: "off" | "masked" | "full" | "default"; recorded: "off" | "masked" | "full" })[]; as_of: string } };
  /** Orders to delete the recorded content of users, newest first */
  'content.erasures.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ user: string; before: string; ordered_at: string; objects_left: number })[]; next_cursor: string | null; as_of: string } };
  /** Deletes the recorded content of a user, in spools, buckets and folders */
  'content.erase': { params: {}; query: {}; body: { user: string; before?: string }; reply: { user: string; before: string; ordered_at: string; objects_left: number } };
  /** Captures of the last day, newest first, with the calls that are kept; owners see those of their keys */
  'captures.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; key_id: string; key: string; user: string; calls: number; taken: number; state: "open" | "over"; created_at: string; until: string; created_by: string; kept: readonly ({ call_id: string; at: string; bytes: number })[] })[]; next_cursor: string | null; as_of: string } };
  /** Keeps the next calls of a key for a day; all gateways begin within two seconds */
  'captures.create': { params: {}; query: {}; body: { key_id: string; calls: number; minutes: number }; reply: { id: string; key_id: string; key: string; user: string; calls: number; taken: number; state: "open" | "over"; created_at: string; until: string; created_by: string; kept: readonly ({ call_id: string; at: string; bytes: number })[] } };
  /** Ends a capture and deletes the calls that it has kept */
  'captures.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The four wires of a captured call; each reading is a row of the audit log */
  'calls.wires': { params: { id: string }; query: {}; body: undefined; reply: { client_request?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean }; upstream_request?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean }; upstream_reply?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean }; client_reply?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean } } };
  /** The balances that the caller may see: of the organization, teams and users, in this order */
  'credits.balances': { params: {}; query: { user?: string }; body: undefined; reply: { items: readonly ({ level: "organization" | "team" | "user"; user: string | null; team: string | null; balance: { nano_usd: string; usd: string }; leased: { nano_usd: string; usd: string }; videos: { nano_usd: string; usd: string } })[]; next_cursor: string | null; as_of: string } };
  /** The postings to the account of a user, newest first */
  'credits.transactions': { params: { name: string }; query: { limit?: number }; body: undefined; reply: { items: readonly ({ id: string; kind: "usage" | "top_up" | "promo" | "correction" | "refund" | "write_off"; amount: { nano_usd: string; usd: string }; posted_at: string; day: string | null; user: string | null; key_id: string | null; call_id: string | null; actor: string | null; note: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Adds a payment, free credit or a correction to the balance of a user */
  'credits.post': { params: { name: string }; query: {}; body: { kind: "top_up" | "grant" | "correct"; usd: string; reference: string; note?: string; against?: "revenue" | "deposits" | "promo" | "suspense" | "write_off" }; reply: { id: string; level: "organization" | "team" | "user"; user: string | null; team: string | null; repeated: boolean; amount: { nano_usd: string; usd: string }; balance: { nano_usd: string; usd: string } } };
  /** The postings to the account of a team, newest first */
  'credits.team_transactions': { params: { name: string }; query: { limit?: number }; body: undefined; reply: { items: readonly ({ id: string; kind: "usage" | "top_up" | "promo" | "correction" | "refund" | "write_off"; amount: { nano_usd: string; usd: string }; posted_at: string; day: string | null; user: string | null; key_id: string | null; call_id: string | null; actor: string | null; note: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Adds a payment, free credit or a correction to the balance of a team */
  'credits.post_team': { params: { name: string }; query: {}; body: { kind: "top_up" | "grant" | "correct"; usd: string; reference: string; note?: string; against?: "revenue" | "deposits" | "promo" | "suspense" | "write_off" }; reply: { id: string; level: "organization" | "team" | "user"; user: string | null; team: string | null; repeated: boolean; amount: { nano_usd: string; usd: string }; balance: { nano_usd: string; usd: string } } };
  /** The postings to the account of the organization, newest first */
  'credits.organization_transactions': { params: {}; query: { limit?: number }; body: undefined; reply: { items: readonly ({ id: string; kind: "usage" | "top_up" | "promo" | "correction" | "refund" | "write_off"; amount: { nano_usd: string; usd: string }; posted_at: string; day: string | null; user: string | null; key_id: string | null; call_id: string | null; actor: string | null; note: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Adds a payment, free credit or a correction to the balance of the organization */
  'credits.post_organization': { params: {}; query: {}; body: { kind: "top_up" | "grant" | "correct"; usd: string; reference: string; note?: string; against?: "revenue" | "deposits" | "promo" | "suspense" | "write_off" }; reply: { id: string; level: "organization" | "team" | "user"; user: string | null; team: string | null; repeated: boolean; amount: { nano_usd: string; usd: string }; balance: { nano_usd: string; usd: string } } };
  /** Refunds the cost of a call, once, to the balance that paid; the call stays in the statistics */
  'credits.refund': { params: { id: string }; query: {}; body: { note?: string }; reply: { id: string; level: "organization" | "team" | "user"; user: string | null; team: string | null; repeated: boolean; amount: { nano_usd: string; usd: string }; balance: { nano_usd: string; usd: string } } };
  /** The amounts that gateway processes have leased for calls */
  'credits.leases': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ node: string; pot: string; user: string | null; leased: { nano_usd: string; usd: string }; seen_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Releases the leases of a process that will never return */
  'credits.release_node': { params: { id: string }; query: {}; body: { force?: boolean }; reply: { released: number } };
  /** Recomputes all balances and sums */
  'credits.verify': { params: {}; query: {}; body: undefined; reply: { checked: number; adds_up: boolean; problem_count: number; problems: readonly ({ account: string | null; what: string })[] } };
  /** What a call cost, and why */
  'receipts.get': { params: { id: string }; query: {}; body: undefined; reply: { readonly [name: string]: unknown } };
  /** Recomputes the receipt of a call */
  'receipts.verify': { params: { id: string }; query: {}; body: undefined; reply: { is_right: boolean; problems: readonly ({ path: string; problem: string })[] } };
  /** Requests that the gateway refused in the last 7 days, newest first; of a flood only a sample */
  'refusals.list': { params: {}; query: { user?: string; key_id?: string; code?: string; status?: number; request_id?: string; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ at: string; code: string; status: number; message: string; key_id: string | null; user: string | null; key: string | null; address: string | null; interface: string; path: string; model: string | null; request_id: string })[]; next_cursor: string | null; as_of: string } };
  /** The prices of a day with the layer that each comes from and what it hides, by vendor and model */
  'prices.list': { params: {}; query: { at?: string; vendor?: string; model?: string; limit?: number; cursor?: string }; body: undefined; reply: { version: string; layers: readonly ({ layer: string; version: string; entries: number })[]; overrides: readonly ({ readonly [name: string]: unknown })[]; items: readonly ({ vendor: string; model: string; layer: string; entry: { readonly [name: string]: unknown }; hides: readonly ({ layer: string; entries: readonly ({ readonly [name: string]: unknown })[] })[] })[]; next_cursor: string | null; as_of: string } };
  /** A whole price book: the prices in force, those of this release, a published book, or those behind a price version */
  'prices.export': { params: {}; query: { book?: string }; body: undefined; reply: { name: string; book: { readonly [name: string]: unknown } } };
  /** The published price books, newest first; the ETag is the number of the newest, 0 if there is none */
  'price_books.list': { params: {}; query: { limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ number: number; label: string; scope: "override" | "whole"; effective_from: string; published_at: string; actor: string; note: string | null; digest: string })[]; next_cursor: string | null; as_of: string } };
  /** Publishes prices as the next price book without a draft: all gateways charge them within seconds, from their day on */
  'price_books.publish': { params: {}; query: {}; body: { from: string; whole?: boolean; note?: string; book: unknown }; reply: { number: number; label: string; scope: "override" | "whole"; effective_from: string; published_at: string; actor: string; note: string | null; digest: string; price_version: string; is_used: boolean; hidden: readonly ({ layer: string; models: readonly (string)[] })[] } };
  /** A published price book, which never changes */
  'price_books.get': { params: { number: string }; query: {}; body: undefined; reply: { number: number; label: string; scope: "override" | "whole"; effective_from: string; published_at: string; actor: string; note: string | null; digest: string; book: { readonly [name: string]: unknown } } };
  /** All prices behind the price version of a receipt */
  'price_versions.get': { params: { version: string }; query: {}; body: undefined; reply: { version: string; recorded_at: string; is_unchanged: boolean; book: { readonly [name: string]: unknown } | null; overrides: readonly ({ readonly [name: string]: unknown })[]; tool_prices: { readonly [name: string]: unknown }; factors: { readonly [name: string]: unknown } } };
  /** Drafts of prices, newest first; there are at most 100 */
  'price_drafts.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; name: string; note: string | null; actor: string; created_at: string; changed_at: string })[]; next_cursor: string | null; as_of: string } };
  /** Keeps prices as a draft: a price book, or a list of LiteLLM, genai-prices or new-api; names every problem */
  'price_drafts.create': { params: {}; query: {}; body: { name: string; note?: string; book?: unknown; text?: string; format?: "auto" | "book" | "litellm" | "genai-prices" | "new-api"; vendor?: string; since?: string }; reply: { id: string; name: string; note: string | null; actor: string; created_at: string; changed_at: string; book: { readonly [name: string]: unknown }; format: "book" | "litellm" | "genai-prices" | "new-api"; not_carried: readonly (string)[] } };
  /** A draft with its prices */
  'price_drafts.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; name: string; note: string | null; actor: string; created_at: string; changed_at: string; book: { readonly [name: string]: unknown } } };
  /** Changes the name, the note or the prices of a draft */
  'price_drafts.update': { params: { id: string }; query: {}; body: { name?: string; note?: string | null; book?: unknown; text?: string; format?: "auto" | "book" | "litellm" | "genai-prices" | "new-api"; vendor?: string; since?: string }; reply: { id: string; name: string; note: string | null; actor: string; created_at: string; changed_at: string; book: { readonly [name: string]: unknown } } };
  /** Deletes a draft */
  'price_drafts.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Every price that the draft would change, add or remove */
  'price_drafts.diff': { params: { id: string }; query: {}; body: { base?: string; whole?: boolean }; reply: { changes: readonly ({ entry: string; member: string; before: string | null; after: string | null })[]; is_complete: boolean; hidden: readonly ({ layer: string; models: readonly (string)[] })[] } };
  /** Publishes a draft as the next price book: all gateways charge it within seconds, from its day on */
  'price_drafts.publish': { params: { id: string }; query: {}; body: { from: string; whole?: boolean; note?: string }; reply: { number: number; label: string; scope: "override" | "whole"; effective_from: string; published_at: string; actor: string; note: string | null; digest: string; price_version: string; is_used: boolean; hidden: readonly ({ layer: string; models: readonly (string)[] })[] } };
  /** Prices the calls of the last days as if the draft held; an operation, whose result has the sums and differences */
  'price_drafts.stage': { params: { id: string }; query: {}; body: { days?: number; by?: "user" | "key" | "model"; from?: string }; reply: { id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null } };
  /** Each limit of each level of a user or key: what of it is used, by what, and when it is free again */
  'standing.get': { params: {}; query: { user: string; key_id?: string; model?: string }; body: undefined; reply: { user: string; team: string | null; key: { id: string; name: string } | null; money: readonly ({ level: "key" | "user" | "team" | "organization"; of: "day" | "month" | "total" | "balance"; limit: { nano_usd: string; usd: string } | null; spent: { nano_usd: string; usd: string } | null; reserved: { nano_usd: string; usd: string } | null; left: { nano_usd: string; usd: string } | null; is_used_up: boolean; resets_at: string | null })[]; rates: readonly ({ level: "key" | "user" | "team" | "organization"; of: "requests" | "tokens" | "concurrency"; limit: number })[]; expires: { level: "key" | "user" | "team" | "organization"; at: string } | null; model: { name: string; refused_by: "key" | "user" | "team" | "organization" | null } | null; as_of: string } };
  /** Events for the addresses of clients, newest first */
  'callbacks.list': { params: {}; query: { user?: string; id?: string; state?: "waiting" | "delivered" | "given_up"; subject?: string; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; user: string; event: string; subject: string; state: "waiting" | "delivered" | "given_up"; attempts: number; created_at: string; next_attempt_at: string | null; delivered_at: string | null; last_status: number | null; last_problem: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Sends an event again, beginning with its first attempt */
  'callbacks.redeliver': { params: { id: string }; query: {}; body: undefined; reply: { id: string; user: string; event: string; subject: string; state: "waiting" | "delivered" | "given_up"; attempts: number; created_at: string; next_attempt_at: string | null; delivered_at: string | null; last_status: number | null; last_problem: string | null } };
  /** The secret that signs the events of a user, made if there is none; each reading is in the audit log */
  'callbacks.read_secret': { params: { name: string }; query: {}; body: undefined; reply: { user: string; secret: string } };
  /** Makes a new secret that signs the events of a user, shown once; the old one also signs for 24 hours */
  'callbacks.rotate_secret': { params: { name: string }; query: {}; body: undefined; reply: { user: string; secret: string } };
  /** Videos that are made or were, newest first */
  'videos.list': { params: {}; query: { user?: string; key_id?: string; upstream?: string; phase?: readonly ("submitting" | "queued" | "in_progress" | "storing" | "completed" | "failed")[]; alert?: boolean; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; call_id: string; user: string; key_id: string; key: string; model: string; upstream: string; upstream_model: string; mode: string; phase: "submitting" | "queued" | "in_progress" | "storing" | "completed" | "failed"; progress: number; created_at: string; ended_at: string | null; last_poll_at: string | null; held: { nano_usd: string; usd: string }; charged: { nano_usd: string; usd: string } | null; error: { code: string; message: string } | null; alert: { since: string; reason: string } | null; duration_ms: number | null; file: { type: string; bytes: number; sha256: string; expires_at: string | null } | null })[]; next_cursor: string | null; as_of: string } };
  /** One video */
  'videos.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; call_id: string; user: string; key_id: string; key: string; model: string; upstream: string; upstream_model: string; mode: string; phase: "submitting" | "queued" | "in_progress" | "storing" | "completed" | "failed"; progress: number; created_at: string; ended_at: string | null; last_poll_at: string | null; held: { nano_usd: string; usd: string }; charged: { nano_usd: string; usd: string } | null; error: { code: string; message: string } | null; alert: { since: string; reason: string } | null; duration_ms: number | null; file: { type: string; bytes: number; sha256: string; expires_at: string | null } | null } };
  /** Deletes a video that has ended, with its file; its receipt stays */
  'videos.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The file of a video, or the part of it that Range names; each reading is in the audit log */
  'videos.content': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** What a video cost, and why; 404 until it has ended */
  'videos.receipt': { params: { id: string }; query: {}; body: undefined; reply: { readonly [name: string]: unknown } };
  /** The video now and after each change, until it has ended */
  'videos.events': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Stored responses, newest first, without their content */
  'responses.list': { params: {}; query: { user?: string; from?: string; to?: string; limit?: number; cursor?: string; key_id?: string; status?: readonly ("queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled")[]; previous_response_id?: string; conversation_id?: string }; body: undefined; reply: { items: readonly ({ id: string; user: string; key_id: string; status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"; bytes: number; created_at: string; expires_at: string; previous_response_id: string | null; conversation_id: string | null; followers: number })[]; next_cursor: string | null; as_of: string } };
  /** One stored response, without its content */
  'responses.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; user: string; key_id: string; status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"; bytes: number; created_at: string; expires_at: string; previous_response_id: string | null; conversation_id: string | null; followers: number } };
  /** Deletes a stored response; what later responses need of it stays hidden until they end. A gateway deletes the copy of a vendor */
  'responses.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The input and the reply of a stored response; each reading is in the audit log */
  'responses.content': { params: { id: string }; query: {}; body: undefined; reply: string };
  /** Conversation objects, newest first, without their content */
  'conversations.list': { params: {}; query: { user?: string; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; user: string; items: number; bytes: number; created_at: string; expires_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** One conversation object, without its content */
  'conversations.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; user: string; items: number; bytes: number; created_at: string; expires_at: string | null } };
  /** Deletes a conversation object with its items; responses that were made in it stay */
  'conversations.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The metadata and all items of a conversation, oldest first; each reading is in the audit log */
  'conversations.content': { params: { id: string }; query: {}; body: undefined; reply: string };
  /** Files of users, newest first, without their content */
  'files.list': { params: {}; query: { user?: string; from?: string; to?: string; limit?: number; cursor?: string; purpose?: string; vector_store_id?: string }; body: undefined; reply: { items: readonly ({ id: string; user: string; filename: string | null; purpose: string; type: string; bytes: number; created_at: string; expires_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** One file, without its content */
  'files.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; user: string; filename: string | null; purpose: string; type: string; bytes: number; created_at: string; expires_at: string | null } };
  /** Deletes a file, and what vector stores have indexed of it */
  'files.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The bytes of a file, or the part of them that Range names; each reading is in the audit log */
  'files.content': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Vector stores, newest first; GET /files?vector_store_id= lists their files */
  'vector_stores.list': { params: {}; query: { user?: string; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; user: string; name: string | null; bytes: number; files: { in_progress: number; completed: number; failed: number; cancelled: number }; created_at: string; last_used_at: string; expires_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** One vector store */
  'vector_stores.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; user: string; name: string | null; bytes: number; files: { in_progress: number; completed: number; failed: number; cancelled: number }; created_at: string; last_used_at: string; expires_at: string | null } };
  /** Deletes a vector store with its index; its files stay. If-Match fails if it was used meanwhile */
  'vector_stores.delete': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The playground keys of this session, newest first */
  'playground.keys': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; user: string; name: string; created_at: string; expires_at: string })[]; next_cursor: string | null; as_of: string } };
  /** Makes a key for the calls of this session. Its secret stays on the server, and its wires are kept for an hour */
  'playground.create_key': { params: {}; query: {}; body: { user: string; limits_of?: string; spend_total_usd: string }; reply: { id: string; user: string; name: string; created_at: string; expires_at: string } };
  /** Ends a playground key of this session; its calls stay in the books */
  'playground.end_key': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** Keeps the wires of the next calls of a playground key, when those of its first hour are over */
  'playground.capture': { params: { id: string }; query: {}; body: undefined; reply: { id: string; key_id: string; key: string; user: string; calls: number; taken: number; state: "open" | "over"; created_at: string; until: string; created_by: string; kept: readonly ({ call_id: string; at: string; bytes: number })[] } };
  /** The four wires of a call that this session made in the playground; each reading is a row of the audit log */
  'playground.wires': { params: { id: string }; query: {}; body: undefined; reply: { client_request?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean }; upstream_request?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean }; upstream_reply?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean }; client_reply?: { start: string; headers: { readonly [name: string]: string }; body: string; encoding: "text" | "base64"; body_bytes: number; is_cut: boolean } } };
  /** Passes a GET to the gateway with the playground key that the header X-Weir-Playground-Key names */
  'playground.relay_get': { params: { path: string }; query: {}; body: undefined; reply: string };
  /** Passes a POST to the gateway with the playground key that the header X-Weir-Playground-Key names */
  'playground.relay_post': { params: { path: string }; query: {}; body: undefined; reply: string };
  /** Passes a DELETE to the gateway with the playground key that the header X-Weir-Playground-Key names */
  'playground.relay_delete': { params: { path: string }; query: {}; body: undefined; reply: string };
  /** A request as lines for curl, Python and TypeScript, with the key as the variable WEIR_API_KEY */
  'playground.snippet': { params: {}; query: {}; body: { method?: "GET" | "POST" | "DELETE"; path: string; body?: { readonly [name: string]: unknown } }; reply: { curl: string; python: string | null; typescript: string | null } };
  /** The changes by operators, newest first */
  'audit.list': { params: {}; query: { actor?: string; via?: "cli" | "api" | "gateway" | "configuration"; action?: string; subject?: string; from?: string; to?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ sequence: number; at: string; actor: string; via: "cli" | "api" | "gateway" | "configuration"; action: string; subject: string; before: unknown | null; after: unknown | null; note: string | null; address: string | null; request_id: string | null; hash: string })[]; next_cursor: string | null; as_of: string } };
  /** The whole log as JSON Lines, oldest first */
  'audit.export': { params: {}; query: {}; body: undefined; reply: undefined };
  /** Recomputes the chain of hashes */
  'audit.verify': { params: {}; query: {}; body: undefined; reply: { rows: number; head: string | null; broken_at: number | null } };
  /** Whether all is well and what it costs: one request for a whole screen */
  'overview.get': { params: {}; query: {}; body: undefined; reply: { time_zone: string; today: { amount: { nano_usd: string; usd: string }; calls: number }; yesterday: { amount: { nano_usd: string; usd: string }; calls: number }; month: { amount: { nano_usd: string; usd: string }; calls: number }; last_day: { calls: number; failed_share: number | null; first_byte_p95_ms: number | null; bucket_starts: readonly (string)[]; series: readonly ({ model: string | null; amounts: readonly ({ nano_usd: string; usd: string })[] })[] }; under_way: number | null; attention: readonly ({ code: "budget" | "balance" | "spend_rate" | "upstream_down" | "credential_refused" | "key_expiring" | "price_missing" | "journal" | "disk" | "books" | "configuration"; subject: string; period: string; severity: "info" | "warning" | "critical"; since: string; summary: string; action: string })[]; users: readonly ({ user: string; amount: { nano_usd: string; usd: string }; calls: number })[]; upstreams: readonly ({ upstream: string; calls: number; failed_share: number | null; first_byte_p95_ms: number | null })[]; books: { add_up: boolean; journal_pending: number; price_versions: readonly (string)[] } | null; pending_calls: number; as_of: string } };
  /** The present problems, the most urgent first, each with the action that ends it */
  'attention.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ code: "budget" | "balance" | "spend_rate" | "upstream_down" | "credential_refused" | "key_expiring" | "price_missing" | "journal" | "disk" | "books" | "configuration"; subject: string; period: string; severity: "info" | "warning" | "critical"; since: string; summary: string; action: string })[]; next_cursor: string | null; as_of: string } };
  /** Present problems, the most urgent first, or those of the last days that have ended, newest end first */
  'alerts.list': { params: {}; query: { state?: "open" | "resolved"; limit?: number }; body: undefined; reply: { items: readonly ({ code: "budget" | "balance" | "spend_rate" | "upstream_down" | "credential_refused" | "key_expiring" | "price_missing" | "journal" | "disk" | "books" | "configuration"; subject: string; period: string; severity: "info" | "warning" | "critical"; since: string; resolved_at: string | null; summary: string; action: string })[]; next_cursor: string | null; as_of: string } };
  /** Messages about problems, newest first, with what the last attempt said */
  'alerts.messages': { params: {}; query: { undelivered?: boolean; limit?: number }; body: undefined; reply: { items: readonly ({ id: string; channel: string; event: "firing" | "resolved" | "test"; rule: string; subject: string; state: "waiting" | "delivered" | "given_up"; attempts: number; created_at: string; next_attempt_at: string | null; last_problem: string | null })[]; next_cursor: string | null; as_of: string } };
  /** Lets a gateway send a test message now, to all channels of its configuration or to the named ones */
  'alerts.test': { params: {}; query: {}; body: { channels?: readonly (string)[] }; reply: { id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null } };
  /** Finds calls and keys by any id, and users, upstreams and models by a part of their names */
  'search': { params: {}; query: { q: string }; body: undefined; reply: { items: readonly ({ kind: "call" | "key" | "user" | "upstream" | "model"; id: string; label: string; path: string })[]; as_of: string } };
  /** Changes as they happen: problems, calls as they are booked, gateways, long work, and the health of targets */
  'events.stream': { params: {}; query: { from?: string; to?: string; user?: readonly (string)[]; key_id?: readonly (string)[]; model?: readonly (string)[]; served_model?: readonly (string)[]; team?: readonly (string)[]; tag?: readonly (string)[]; upstream?: readonly (string)[]; interface?: readonly (string)[]; end?: readonly ("finished" | "client-left" | "cut" | "failed" | "lost")[]; error_code?: readonly (string)[]; status_class?: readonly (number)[]; flag?: readonly ("stream" | "translated" | "estimated" | "video" | "adapted" | "emulated" | "dropped" | "unchecked" | "repeated")[]; amount_min_usd?: string; amount_max_usd?: string; tokens_min?: number; tokens_max?: number; duration_min_ms?: number; duration_max_ms?: number; first_byte_min_ms?: number; first_byte_max_ms?: number; topics: string }; body: undefined; reply: undefined };
  /** The gateway processes, as they last reported */
  'nodes.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ id: string; state: "running" | "silent"; reported_at: string; program: string; version: string; host: string; process_id: number; started_at: string; config_version: string; config_in_force: boolean; layer: { number: number | null; is_taken: boolean; newest: number; problem: string | null } | null; price_version: string; calls_under_way: number; calls_waiting: number; journal_pending: number; loop_turn_ms: number; loop_busy_share: number; memory_bytes: number; memory_share: number; reloads: number; targets_out: readonly (string)[] })[]; next_cursor: string | null; as_of: string } };
  /** The upstreams of the running gateways */
  'upstreams.list': { params: {}; query: {}; body: undefined; reply: { items: readonly ({ name: string; vendor: string; title: string; address: string; dialects: readonly (string)[]; credentials: readonly (string)[]; nodes: readonly (string)[] })[]; next_cursor: string | null; as_of: string } };
  /** One upstream: its settings, and where each comes from */
  'upstreams.get': { params: { name: string }; query: {}; body: undefined; reply: { name: string; vendor: string; title: string; address: string; dialects: readonly (string)[]; credentials: readonly (string)[]; nodes: readonly (string)[]; settings: readonly ({ path: string; value: unknown; default: unknown; secret: { set: boolean; ends_in: string | null } | null; from: "file" | "environment" | "layer" | "simulated" | "default"; variable: string | null; line: number | null })[] } };
  /** Checks an upstream from a gateway, as `weir doctor` does: connection, credential, and each interface */
  'upstreams.check': { params: { name: string }; query: {}; body: { checks?: readonly (string)[]; model?: string; may_call?: boolean; timeout_s?: number }; reply: { id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null } };
  /** The health of the targets that gateways have used, and the orders of operators about them */
  'targets.list': { params: {}; query: { upstream?: string; state?: "healthy" | "suspect" | "rate-limited" | "failing" | "rejected" | "out"; node?: string }; body: undefined; reply: { items: readonly ({ id: string; upstream: string; credential: string; model: string; state: "healthy" | "suspect" | "rate-limited" | "failing" | "rejected" | null; override: { target: string; state: "out"; reason: string; actor: string; set_at: string; until: string } | null; nodes: readonly ({ node: string; state: "healthy" | "suspect" | "rate-limited" | "failing" | "rejected"; again_in_ms: number | null; calls_under_way: number; consecutive_failures: number; has_answered: boolean; reported_at: string; is_silent: boolean })[] })[]; next_cursor: string | null; as_of: string } };
  /** The health of one target */
  'targets.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; upstream: string; credential: string; model: string; state: "healthy" | "suspect" | "rate-limited" | "failing" | "rejected" | null; override: { target: string; state: "out"; reason: string; actor: string; set_at: string; until: string } | null; nodes: readonly ({ node: string; state: "healthy" | "suspect" | "rate-limited" | "failing" | "rejected"; again_in_ms: number | null; calls_under_way: number; consecutive_failures: number; has_answered: boolean; reported_at: string; is_silent: boolean })[] } };
  /** Takes a target out of use until a time; every gateway follows within two seconds. The model `*` means all models */
  'targets.take_out': { params: { id: string }; query: {}; body: { state: "out"; until: string; reason: string }; reply: { target: string; state: "out"; reason: string; actor: string; set_at: string; until: string } };
  /** Puts a target back into use */
  'targets.put_back': { params: { id: string }; query: {}; body: undefined; reply: undefined };
  /** The models that clients can call, by their names, and where their calls go */
  'models.list': { params: {}; query: { upstream?: string; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ name: string; is_named: boolean; is_from_layer: boolean; kinds: readonly (string)[]; is_priced: boolean; interfaces: readonly ({ interface: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini-generate-content"; way: "passes" | "translated" | "partly" })[]; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null } | null; balance: string; targets: readonly ({ id: string; upstream: string; model: string; tier: number; share: number; only: string | null })[] })[]; next_cursor: string | null; as_of: string } };
  /** One model: its targets, interfaces, limits, and its calls of the last 24 hours */
  'models.get': { params: { name: string }; query: {}; body: undefined; reply: { name: string; is_named: boolean; is_from_layer: boolean; kinds: readonly (string)[]; is_priced: boolean; interfaces: readonly ({ interface: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini-generate-content"; way: "passes" | "translated" | "partly" })[]; limits: { requests_per_minute: number | null; tokens_per_minute: number | null; concurrency: number | null } | null; balance: string; targets: readonly ({ id: string; upstream: string; model: string; tier: number; share: number; only: string | null })[]; last_day: { calls: number; amount: { nano_usd: string; usd: string } } } };
  /** Every value of the configuration in force, except upstreams and models, and where it comes from */
  'config.get': { params: {}; query: { node?: string }; body: undefined; reply: { node: string; version: string; fields: readonly ({ path: string; value: unknown; default: unknown; secret: { set: boolean; ends_in: string | null } | null; from: "file" | "environment" | "layer" | "simulated" | "default"; variable: string | null; line: number | null; needs_restart: boolean })[]; as_of: string } };
  /** The gateways whose present file is not in force, and why; and files that differ between gateways */
  'config.problems': { params: {}; query: {}; body: undefined; reply: { problems: readonly ({ node: string; detail: string })[]; versions: readonly ({ version: string; nodes: readonly (string)[] })[]; as_of: string } };
  /** Checks a configuration file; nothing is changed */
  'config.check': { params: {}; query: {}; body: { yaml: string }; reply: { is_valid: boolean; problems: readonly ({ line: number; column: number; path: string; message: string })[] } };
  /** Makes every gateway read its files and lists of models now; answers when all have, or after four seconds */
  'config.reload': { params: {}; query: {}; body: undefined; reply: { order: number; nodes: readonly ({ node: string; has_followed: boolean; config_in_force: boolean })[] } };
  /** The published layers of the configuration, newest first; the ETag is the number of the newest, 0 if there is none */
  'config.layers.list': { params: {}; query: { limit?: number; cursor?: string }; body: undefined; reply: { is_on: boolean; items: readonly ({ number: number; published_at: string; actor: string; note: string | null; restored: number | null; used_by: readonly (string)[]; problems: readonly ({ node: string; detail: string })[] })[]; next_cursor: string | null; as_of: string } };
  /** Publishes a layer below the files of all gateways, which take it within two seconds; or an earlier one again */
  'config.layers.publish': { params: {}; query: {}; body: { layer?: unknown; yaml?: string; from?: number; note?: string; drop_models?: readonly (string)[] }; reply: { number: number; published_at: string; actor: string; note: string | null; restored: number | null; used_by: readonly (string)[]; problems: readonly ({ node: string; detail: string })[]; layer: { readonly [name: string]: unknown }; hidden: readonly ({ node: string; paths: readonly (string)[] })[] } };
  /** One layer, with its secrets masked */
  'config.layers.get': { params: { number: string }; query: {}; body: undefined; reply: { number: number; published_at: string; actor: string; note: string | null; restored: number | null; used_by: readonly (string)[]; problems: readonly ({ node: string; detail: string })[]; layer: { readonly [name: string]: unknown }; hidden: readonly ({ node: string; paths: readonly (string)[] })[] } };
  /** The file of this console and the newest layer as one weir.yaml; secrets are names of variables */
  'config.export': { params: {}; query: {}; body: undefined; reply: { yaml: string; layer: number | null } };
  /** Long work of the last days that the caller may see, newest first */
  'operations.list': { params: {}; query: { kind?: string; state?: readonly ("waiting" | "running" | "done" | "failed" | "cancelled")[]; limit?: number; cursor?: string }; body: undefined; reply: { items: readonly ({ id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null })[]; next_cursor: string | null; as_of: string } };
  /** The state, progress and result of long work */
  'operations.get': { params: { id: string }; query: {}; body: undefined; reply: { id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null } };
  /** Asks for the end of long work; the finished part stays its result */
  'operations.cancel': { params: { id: string }; query: {}; body: undefined; reply: { id: string; kind: string; state: "waiting" | "running" | "done" | "failed" | "cancelled"; is_cancelling: boolean; actor: string; input: unknown; progress: { done: number; total: number | null; unit: string; partial: unknown } | null; result: unknown; problem: { code: string; detail: string } | null; attempts: number; created_at: string; started_at: string | null; ended_at: string | null } };
  /** The operation now and after each change, until it has ended */
  'operations.events': { params: { id: string }; query: { after?: number }; body: undefined; reply: undefined };
};

/** Method and path of each operation. */
export const routes: Readonly<Record<keyof Operations, string>> = {
  'session.create': 'POST /api/v1/session',
  'session.get': 'GET /api/v1/session',
  'session.delete': 'DELETE /api/v1/session',
  'session.ways': 'GET /api/v1/session/ways',
  'session.confirm': 'POST /api/v1/session/confirm',
  'session.set_password': 'PUT /api/v1/session/password',
  'people.list': 'GET /api/v1/people',
  'people.create': 'POST /api/v1/people',
  'people.get': 'GET /api/v1/people/{id}',
  'people.update': 'PATCH /api/v1/people/{id}',
  'people.delete': 'DELETE /api/v1/people/{id}',
  'people.link': 'POST /api/v1/people/{id}/link',
  'people.list_sessions': 'GET /api/v1/people/{id}/sessions',
  'people.end_sessions': 'DELETE /api/v1/people/{id}/sessions',
  'admin_tokens.list': 'GET /api/v1/admin_tokens',
  'admin_tokens.create': 'POST /api/v1/admin_tokens',
  'admin_tokens.rotate': 'POST /api/v1/admin_tokens/{id}/rotate',
  'admin_tokens.revoke_own': 'DELETE /api/v1/admin_tokens/current',
  'admin_tokens.delete': 'DELETE /api/v1/admin_tokens/{id}',
  'device_sign_ins.create': 'POST /api/v1/device_sign_ins',
  'device_sign_ins.get': 'GET /api/v1/device_sign_ins/{user_code}',
  'device_sign_ins.approve': 'POST /api/v1/device_sign_ins/{user_code}/approve',
  'device_sign_ins.deny': 'POST /api/v1/device_sign_ins/{user_code}/deny',
  'device_sign_ins.token': 'POST /api/v1/device_sign_ins/token',
  'billing_tokens.list': 'GET /api/v1/billing_tokens',
  'billing_tokens.create': 'POST /api/v1/billing_tokens',
  'billing_tokens.rotate': 'POST /api/v1/billing_tokens/{id}/rotate',
  'billing_tokens.delete': 'DELETE /api/v1/billing_tokens/{id}',
  'teams.list': 'GET /api/v1/teams',
  'teams.create': 'POST /api/v1/teams',
  'teams.get': 'GET /api/v1/teams/{name}',
  'teams.update': 'PATCH /api/v1/teams/{name}',
  'teams.delete': 'DELETE /api/v1/teams/{name}',
  'organization.get': 'GET /api/v1/organization',
  'organization.update': 'PATCH /api/v1/organization',
  'users.list': 'GET /api/v1/users',
  'users.create': 'POST /api/v1/users',
  'users.get': 'GET /api/v1/users/{name}',
  'users.update': 'PATCH /api/v1/users/{name}',
  'keys.list': 'GET /api/v1/keys',
  'keys.create': 'POST /api/v1/keys',
  'keys.batch': 'POST /api/v1/keys/batch',
  'keys.get': 'GET /api/v1/keys/{id}',
  'keys.update': 'PATCH /api/v1/keys/{id}',
  'keys.delete': 'DELETE /api/v1/keys/{id}',
  'keys.rotate': 'POST /api/v1/keys/{id}/rotate',
  'calls.list': 'GET /api/v1/calls',
  'calls.histogram': 'GET /api/v1/calls/histogram',
  'calls.export': 'GET /api/v1/calls/export',
  'calls.get': 'GET /api/v1/calls/{id}',
  'usage.query': 'POST /api/v1/usage/query',
  'usage.export': 'POST /api/v1/usage/export',
  'saved_views.list': 'GET /api/v1/saved_views',
  'saved_views.create': 'POST /api/v1/saved_views',
  'saved_views.get': 'GET /api/v1/saved_views/{id}',
  'saved_views.update': 'PATCH /api/v1/saved_views/{id}',
  'saved_views.delete': 'DELETE /api/v1/saved_views/{id}',
  'reconciliations.create': 'POST /api/v1/reconciliations',
  'reconciliations.list': 'GET /api/v1/reconciliations',
  'reconciliations.get': 'GET /api/v1/reconciliations/{id}',
  'reconciliations.update': 'PATCH /api/v1/reconciliations/{id}',
  'reconciliations.calls': 'GET /api/v1/reconciliations/{id}/calls',
  'content.choices': 'GET /api/v1/content/choices',
  'content.erasures.list': 'GET /api/v1/content/erasures',
  'content.erase': 'POST /api/v1/content/erasures',
  'captures.list': 'GET /api/v1/captures',
  'captures.create': 'POST /api/v1/captures',
  'captures.delete': 'DELETE /api/v1/captures/{id}',
  'calls.wires': 'GET /api/v1/calls/{id}/wires',
  'credits.balances': 'GET /api/v1/credits/balances',
  'credits.transactions': 'GET /api/v1/users/{name}/transactions',
  'credits.post': 'POST /api/v1/users/{name}/transactions',
  'credits.team_transactions': 'GET /api/v1/teams/{name}/transactions',
  'credits.post_team': 'POST /api/v1/teams/{name}/transactions',
  'credits.organization_transactions': 'GET /api/v1/organization/transactions',
  'credits.post_organization': 'POST /api/v1/organization/transactions',
  'credits.refund': 'POST /api/v1/calls/{id}/refund',
  'credits.leases': 'GET /api/v1/credits/leases',
  'credits.release_node': 'POST /api/v1/credits/nodes/{id}/release',
  'credits.verify': 'POST /api/v1/credits/verifications',
  'receipts.get': 'GET /api/v1/calls/{id}/receipt',
  'receipts.verify': 'POST /api/v1/calls/{id}/receipt/verify',
  'refusals.list': 'GET /api/v1/refusals',
  'prices.list': 'GET /api/v1/prices',
  'prices.export': 'GET /api/v1/prices/export',
  'price_books.list': 'GET /api/v1/price_books',
  'price_books.publish': 'POST /api/v1/price_books',
  'price_books.get': 'GET /api/v1/price_books/{number}',
  'price_versions.get': 'GET /api/v1/price_versions/{version}',
  'price_drafts.list': 'GET /api/v1/price_drafts',
  'price_drafts.create': 'POST /api/v1/price_drafts',
  'price_drafts.get': 'GET /api/v1/price_drafts/{id}',
  'price_drafts.update': 'PATCH /api/v1/price_drafts/{id}',
  'price_drafts.delete': 'DELETE /api/v1/price_drafts/{id}',
  'price_drafts.diff': 'POST /api/v1/price_drafts/{id}/diff',
  'price_drafts.publish': 'POST /api/v1/price_drafts/{id}/publish',
  'price_drafts.stage': 'POST /api/v1/price_drafts/{id}/stage',
  'standing.get': 'GET /api/v1/standing',
  'callbacks.list': 'GET /api/v1/callbacks',
  'callbacks.redeliver': 'POST /api/v1/callbacks/{id}/redeliver',
  'callbacks.read_secret': 'POST /api/v1/users/{name}/callback_secret/read',
  'callbacks.rotate_secret': 'POST /api/v1/users/{name}/callback_secret/rotate',
  'videos.list': 'GET /api/v1/videos',
  'videos.get': 'GET /api/v1/videos/{id}',
  'videos.delete': 'DELETE /api/v1/videos/{id}',
  'videos.content': 'GET /api/v1/videos/{id}/content',
  'videos.receipt': 'GET /api/v1/videos/{id}/receipt',
  'videos.events': 'GET /api/v1/videos/{id}/events',
  'responses.list': 'GET /api/v1/responses',
  'responses.get': 'GET /api/v1/responses/{id}',
  'responses.delete': 'DELETE /api/v1/responses/{id}',
  'responses.content': 'GET /api/v1/responses/{id}/content',
  'conversations.list': 'GET /api/v1/conversations',
  'conversations.get': 'GET /api/v1/conversations/{id}',
  'conversations.delete': 'DELETE /api/v1/conversations/{id}',
  'conversations.content': 'GET /api/v1/conversations/{id}/content',
  'files.list': 'GET /api/v1/files',
  'files.get': 'GET /api/v1/files/{id}',
  'files.delete': 'DELETE /api/v1/files/{id}',
  'files.content': 'GET /api/v1/files/{id}/content',
  'vector_stores.list': 'GET /api/v1/vector_stores',
  'vector_stores.get': 'GET /api/v1/vector_stores/{id}',
  'vector_stores.delete': 'DELETE /api/v1/vector_stores/{id}',
  'playground.keys': 'GET /api/v1/playground/keys',
  'playground.create_key': 'POST /api/v1/playground/keys',
  'playground.end_key': 'DELETE /api/v1/playground/keys/{id}',
  'playground.capture': 'POST /api/v1/playground/keys/{id}/captures',
  'playground.wires': 'GET /api/v1/playground/calls/{id}/wires',
  'playground.relay_get': 'GET /api/v1/playground/relay/{path}',
  'playground.relay_post': 'POST /api/v1/playground/relay/{path}',
  'playground.relay_delete': 'DELETE /api/v1/playground/relay/{path}',
  'playground.snippet': 'POST /api/v1/playground/snippet',
  'audit.list': 'GET /api/v1/audit',
  'audit.export': 'GET /api/v1/audit/export',
  'audit.verify': 'POST /api/v1/audit/verifications',
  'overview.get': 'GET /api/v1/overview',
  'attention.list': 'GET /api/v1/attention',
  'alerts.list': 'GET /api/v1/alerts',
  'alerts.messages': 'GET /api/v1/alerts/messages',
  'alerts.test': 'POST /api/v1/alerts/tests',
  'search': 'GET /api/v1/search',
  'events.stream': 'GET /api/v1/events',
  'nodes.list': 'GET /api/v1/nodes',
  'upstreams.list': 'GET /api/v1/upstreams',
  'upstreams.get': 'GET /api/v1/upstreams/{name}',
  'upstreams.check': 'POST /api/v1/upstreams/{name}/checks',
  'targets.list': 'GET /api/v1/targets',
  'targets.get': 'GET /api/v1/targets/{id}',
  'targets.take_out': 'PUT /api/v1/targets/{id}/override',
  'targets.put_back': 'DELETE /api/v1/targets/{id}/override',
  'models.list': 'GET /api/v1/models',
  'models.get': 'GET /api/v1/models/{name}',
  'config.get': 'GET /api/v1/config',
  'config.problems': 'GET /api/v1/config/problems',
  'config.check': 'POST /api/v1/config/check',
  'config.reload': 'POST /api/v1/config/reload',
  'config.layers.list': 'GET /api/v1/config/layers',
  'config.layers.publish': 'POST /api/v1/config/layers',
  'config.layers.get': 'GET /api/v1/config/layers/{number}',
  'config.export': 'GET /api/v1/config/export',
  'operations.list': 'GET /api/v1/operations',
  'operations.get': 'GET /api/v1/operations/{id}',
  'operations.cancel': 'DELETE /api/v1/operations/{id}',
  'operations.events': 'GET /api/v1/operations/{id}/events',
};
