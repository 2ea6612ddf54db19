declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped. */
    skipReason?: string;
  }
}

type Options = { readonly skip?: true; readonly meta?: { readonly skipReason: string } };

/** Returns options of a test or suite that skip it, for a reason that the run prints, unless the condition is met. */
export function requires(isMet: boolean, skipReason: string): Options {
  return isMet ? {} : { skip: true, meta: { skipReason } };
}

export const requiresLinux = requires(process.platform === 'linux', 'only Linux has this feature');

export const requiresPosix = requires(
  process.platform !== 'win32',
  'Windows does not have this feature',
);

export const requiresRoot = requires(process.geteuid?.() === 0, 'only root can do this');
