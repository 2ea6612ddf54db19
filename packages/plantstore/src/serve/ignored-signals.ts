/**
 * Signals that the server ignores: by default they end the process or, for SIGUSR1, open Node's
 * debugger. SIGALRM, SIGVTALRM, SIGPROF and SIGXCPU enforce limits, and SIGQUIT requests a core
 * dump: these end the process.
 */
export const ignoredSignals = ['SIGUSR1', 'SIGUSR2', 'SIGIO'] as const;
