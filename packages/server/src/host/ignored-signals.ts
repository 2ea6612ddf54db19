/**
 * Signals that have no meaning for the host and would end it, or, SIGUSR1, open Node's debugger.
 * SIGALRM, SIGVTALRM, SIGPROF and SIGXCPU are limits from outside, SIGQUIT asks for a core dump: these end it.
 */
export const ignoredSignals = ['SIGUSR1', 'SIGUSR2', 'SIGIO'] as const;
