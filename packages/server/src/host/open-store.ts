import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { openSqliteRepository } from '@plantstore/sqlite';
import type { DatabaseSetting } from './settings.ts';

/** A repository and how to give it up, or why there is none. */
export type OpenedStore =
  | {
      readonly kind: 'opened';
      readonly repository: PlantRepository;
      readonly close: () => Promise<void>;
    }
  | { readonly kind: 'cannot-open'; readonly message: string };

/** Opens the store that the settings name. */
export const openStore = async (database: DatabaseSetting): Promise<OpenedStore> => {
  switch (database.kind) {
    case 'memory':
      return { kind: 'opened', repository: createMemoryRepository(), close: async () => {} };
    case 'sqlite':
      return openSqliteRepository({ path: database.path }).match(
        (repository): OpenedStore => ({ kind: 'opened', repository, close: repository.close }),
        ({ message }): OpenedStore => ({ kind: 'cannot-open', message }),
      );
  }
};
