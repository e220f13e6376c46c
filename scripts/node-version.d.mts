/** Ends the process with one sentence when a Node (`v26.10.0`; this one by default) is older than package.json asks for. */
export function assertNode (version?: string): void
