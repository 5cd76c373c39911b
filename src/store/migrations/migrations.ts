import type { Migration } from './migration.ts';
import { initialSchema } from './0001-initial-schema.ts';
import { reasoningProofs } from './0002-reasoning-proofs.ts';
import { strictTranslation } from './0003-strict-translation.ts';
import { limits } from './0004-limits.ts';
import { conversations } from './0005-conversations.ts';
import { fileSearch } from './0006-file-search.ts';
import { videoTasks } from './0007-video-tasks.ts';
import { credits } from './0008-credits.ts';
import { disconnectPolicy } from './0009-disconnect-policy.ts';
import { idempotency } from './0010-idempotency.ts';
import { statisticsScale } from './0011-statistics-scale.ts';
import { priceBooks } from './0012-price-books.ts';
import { bookingWaits } from './0013-booking-waits.ts';
import { publishedPrices } from './0014-published-prices.ts';
import { disputedCalls } from './0015-disputed-calls.ts';
import { unpricedCalls } from './0016-unpriced-calls.ts';
import { pictures } from './0017-pictures.ts';
import { auditLog } from './0018-audit-log.ts';
import { callShapes } from './0019-call-shapes.ts';
import { keyRotation } from './0020-key-rotation.ts';
import { people } from './0021-people.ts';
import { callFacts } from './0022-call-facts.ts';
import { teams } from './0023-teams.ts';
import { alerts } from './0024-alerts.ts';
import { auditSinks } from './0025-audit-sinks.ts';
import { refusals } from './0026-refusals.ts';
import { groupCredits } from './0027-group-credits.ts';
import { operations } from './0028-operations.ts';
import { content } from './0029-content.ts';
import { priceDrafts } from './0030-price-drafts.ts';
import { control } from './0031-control.ts';
import { callLabels } from './0032-call-labels.ts';
import { adminLists } from './0033-admin-lists.ts';
import { captures } from './0034-captures.ts';
import { storedLists } from './0035-stored-lists.ts';
import { savedViews } from './0036-saved-views.ts';
import { deviceSignIns } from './0037-device-sign-ins.ts';
import { usagePacks } from './0038-usage-packs.ts';
import { reconciliations } from './0039-reconciliations.ts';
import { configLayers } from './0040-config-layers.ts';
import { keySessions } from './0041-key-sessions.ts';
import { playgroundKeys } from './0042-playground-keys.ts';
import { limitQuestions } from './0043-limit-questions.ts';
import { bookVerifications } from './0044-book-verifications.ts';
import { callPacks } from './0045-call-packs.ts';
import { callArchives } from './0046-call-archives.ts';
import { sealedInputs } from './0047-sealed-inputs.ts';
import { callSpans } from './0048-call-spans.ts';

/** In ascending order of version, from 1 and without gaps. */
export const migrations: readonly Migration[] = [
  initialSchema,
  reasoningProofs,
  strictTranslation,
  limits,
  conversations,
  fileSearch,
  videoTasks,
  credits,
  disconnectPolicy,
  idempotency,
  statisticsScale,
  priceBooks,
  bookingWaits,
  publishedPrices,
  disputedCalls,
  unpricedCalls,
  pictures,
  auditLog,
  callShapes,
  keyRotation,
  people,
  callFacts,
  teams,
  alerts,
  auditSinks,
  refusals,
  groupCredits,
  operations,
  content,
  priceDrafts,
  control,
  callLabels,
  adminLists,
  captures,
  storedLists,
  savedViews,
  deviceSignIns,
  usagePacks,
  reconciliations,
  configLayers,
  keySessions,
  playgroundKeys,
  limitQuestions,
  bookVerifications,
  callPacks,
  callArchives,
  sealedInputs,
  callSpans,
];

/** The schema version that this program needs. */
export const latestVersion = migrations.at(-1)?.version ?? 0;
