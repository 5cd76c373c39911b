import type { Change } from '../../audit/change-author.ts';

/** A view of a page of the console that somebody kept. */
export type SavedView = {
  /** `view_…` */
  readonly id: string;
  /** Its owner may change it: the id of a person, or a token as the audit log names it. */
  readonly owner: string;
  /** The owner's name when it was made, as the audit log has it. */
  readonly actor: string;
  readonly name: string;
  /** The page that it belongs to: `usage`. */
  readonly page: string;
  /** JSON of an object, which only the page understands. */
  readonly query: string;
  /** Whether everybody may use it who reads usage. */
  readonly isShared: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
};

/** Views of one owner. */
export const savedViewsMax = 200;
/** Bytes of the JSON of one view. */
export const savedViewBytesMax = 16 * 1024;

type SavedViewEdit = Partial<Pick<SavedView, 'name' | 'query' | 'isShared'>>;

/** The store of saved views. All methods reject with the store's error. */
export type SavedViewStore = {
  /** False if the owner has `savedViewsMax` already. */
  readonly insertSavedView: (view: SavedView, change: Change) => Promise<boolean>;
  /** An owner's own views and all shared ones, newest first. */
  readonly querySavedViews: (query: {
    readonly owner: string;
    readonly page?: string;
    readonly after?: { readonly createdAtMs: number; readonly id: string };
    readonly limit: number;
  }) => Promise<readonly SavedView[]>;
  readonly findSavedView: (id: string) => Promise<SavedView | undefined>;
  /** False if there is none. */
  readonly changeSavedView: (id: string, edit: SavedViewEdit, change: Change) => Promise<boolean>;
  readonly deleteSavedView: (id: string, change: Change) => Promise<boolean>;
};
